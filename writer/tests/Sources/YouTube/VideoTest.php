<?php

declare(strict_types=1);

namespace TrendVault\Writer\Tests\Sources\YouTube;

use PHPUnit\Framework\Attributes\Test;
use PHPUnit\Framework\TestCase;
use Random\Randomizer;
use TrendVault\Writer\Observations\ObservationParser;
use TrendVault\Writer\Observations\RejectedLine;
use TrendVault\Writer\Sources\YouTube\Video;
use TrendVault\Writer\Tests\Support\Draws;
use TrendVault\Writer\Tests\Support\FixedClock;

final class VideoTest extends TestCase
{
    private const array VALUES = [
        null,
        true,
        0,
        -1,
        1.5,
        INF,
        PHP_INT_MAX,
        '',
        '10',
        ' ',
        "\u{202e}",
        [],
        ['10'],
        [[[]]],
        'PT9223372036854775807S',
        'P99999999999999D',
        '99999999999999999999',
    ];

    #[Test]
    public function an_item_of_any_shape_becomes_a_line(): void
    {
        $random = Draws::randomizer();
        $rounds = Draws::count(usual: 20_000, long: 1_000_000);
        $parser = new ObservationParser(['GB' => true], FixedClock::NOON);
        for ($round = 0; $round < $rounds; $round++) {
            $item = StubServer::page(['aaa'])['body']['items'][0];
            for ($change = $random->getInt(1, 3); $change > 0; $change--) {
                self::change($item, $random);
            }
            $line = Video::line($item, 'GB', FixedClock::NOON);
            self::assertTrue(json_validate($line), Draws::hint());
            try {
                $parser->parse($line);
            } catch (RejectedLine) {
            }
        }
    }

    #[Test]
    public function depth_does_not_matter(): void
    {
        $deep = json_decode(str_repeat('[', 500) . str_repeat(']', 500), true);

        self::assertTrue(
            json_validate(Video::line(['id' => $deep, 'snippet' => ['title' => $deep]], 'GB', 0)),
        );
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
}
