<?php

declare(strict_types=1);

namespace TrendVault\Writer\Tests\Sources;

use PHPUnit\Framework\TestCase;
use Random\Randomizer;
use TrendVault\Writer\Observations\ObservationParser;
use TrendVault\Writer\Observations\RejectedLine;
use TrendVault\Writer\Tests\Support\Draws;
use TrendVault\Writer\Tests\Support\FixedClock;

/** Items of a platform of which any part may be of any kind. */
abstract class PlatformVideoTestCase extends TestCase
{
    private const array VALUES = [
        null,
        true,
        false,
        0,
        -1,
        1.5,
        INF,
        PHP_INT_MAX,
        '',
        'de',
        '10',
        ' ',
        "\u{202e}",
        '9999-12-31T00:00:00Z',
        'PT9223372036854775807S',
        'P99999999999999D',
        '99999999999999999999',
        '/../../etc/passwd.jpg',
        '//other.example/a.jpg',
        'https://other.example/a.jpg',
        'https://tube.example.evil.example/a.jpg',
        'https://tube.example@evil.example/a.jpg',
        [],
        ['10'],
        [[[]]],
    ];

    /**
     * @param array<mixed> $item
     * @return iterable<array<mixed>> the item, with one to three parts of it replaced
     */
    protected static function changed(array $item): iterable
    {
        $random = Draws::randomizer();
        for ($round = Draws::count(usual: 20_000, long: 1_000_000); $round > 0; $round--) {
            $changed = $item;
            for ($change = $random->getInt(1, 3); $change > 0; $change--) {
                self::change($changed, $random);
            }
            yield $changed;
        }
    }

    /** @param array<mixed> $item */
    private static function change(array &$item, Randomizer $random): void
    {
        $key = $random->pickArrayKeys($item, 1)[0];
        if (is_array($item[$key]) && $item[$key] !== [] && $random->getInt(0, 3) > 0) {
            self::change($item[$key], $random);
        } else {
            $item[$key] = self::VALUES[$random->getInt(0, count(self::VALUES) - 1)];
        }
    }

    /** Whatever it says, it ends no run: a line that is rejected is reported, and those around it are stored. */
    protected static function expectLine(string $line, string $region): void
    {
        self::assertTrue(json_validate($line), Draws::hint());
        try {
            new ObservationParser([$region => true], FixedClock::NOON)->parse($line);
        } catch (RejectedLine) {
        }
    }
}
