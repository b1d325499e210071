<?php

declare(strict_types=1);

namespace TrendVault\Writer\Tests\Time;

use PHPUnit\Framework\Attributes\DataProvider;
use PHPUnit\Framework\Attributes\Test;
use PHPUnit\Framework\TestCase;
use TrendVault\Writer\Tests\Support\Draws;
use TrendVault\Writer\Time\Rfc3339;

final class Rfc3339Test extends TestCase
{
    #[Test]
    #[DataProvider('times')]
    public function a_time_is_read_or_refused(string $text, ?int $expected): void
    {
        self::assertSame($expected, Rfc3339::parse($text));
    }

    /** @return iterable<array{string, ?int}> */
    public static function times(): iterable
    {
        yield ['1970-01-01T00:00:00Z', 0];
        yield ['2025-11-20T12:00:00Z', 1_763_640_000];
        yield ['2025-11-20t12:00:00z', 1_763_640_000];
        yield ['2025-11-20 12:00:00.999Z', 1_763_640_000];
        yield ['2025-11-20T13:30:00+01:30', 1_763_640_000];
        yield ['2025-11-20T09:00:00-03:00', 1_763_640_000];
        yield ['2024-02-29T00:00:00Z', 1_709_164_800];
        yield ['2016-12-31T23:59:60Z', 1_483_228_800];
        yield ['2025-02-29T00:00:00Z', null];
        yield ['2025-13-01T00:00:00Z', null];
        yield ['2025-11-20T24:00:00Z', null];
        yield ['2025-11-20T12:60:00Z', null];
        yield ['2025-11-20T12:00:00', null];
        yield ['2025-11-20', null];
        yield ['2025-11-20T12:00:00Z ', null];
        yield ["2025-11-20T12:00:00Z\n", null];
        yield ['tomorrow', null];
        yield ['', null];
    }

    #[Test]
    public function a_time_is_read_alike_whatever_was_read_before(): void
    {
        [$random, $draws] = [Draws::randomizer(), Draws::count(usual: 5000, long: 200_000)];
        for ($draw = 0; $draw < $draws; $draw++) {
            $time = $random->getInt(0, 4_102_444_800);
            $offset = $random->getInt(-1439, 1439);
            $sign = $offset < 0 ? '-' : '+';
            $zone = sprintf('%s%02d:%02d', $sign, intdiv(abs($offset), 60), abs($offset) % 60);
            $text = gmdate('Y-m-d\TH:i:s', $time + $offset * 60);
            self::assertSame($time, Rfc3339::parse($text . $zone), Draws::hint());
            self::assertSame($time + $offset * 60, Rfc3339::parse("{$text}Z"), Draws::hint());
            self::assertNull(Rfc3339::parse(substr($text, 0, 14) . '60:00Z'), Draws::hint());
        }
    }

    #[Test]
    public function what_is_written_is_read_again(): void
    {
        self::assertSame('2025-11-20T12:00:00Z', Rfc3339::format(1_763_640_000));
        self::assertSame(1_763_640_001, Rfc3339::parse(Rfc3339::format(1_763_640_001)));
    }
}
