<?php

declare(strict_types=1);

namespace TrendVault\Writer\Tests\Sources\Http;

use PHPUnit\Framework\Attributes\Test;
use PHPUnit\Framework\TestCase;
use TrendVault\Writer\Sources\Http\HttpUrl;
use TrendVault\Writer\Sources\Http\KnownVersions;
use TrendVault\Writer\Tests\Support\MigratedDatabase;

final class KnownVersionsTest extends TestCase
{
    private const int NOON = 1_763_640_000;
    private const string URL = 'https://stats.example/views.ndjson';

    #[Test]
    public function a_server_that_wants_to_be_left_alone_is_asked_when_its_time_has_come(): void
    {
        [$versions, $url] = self::ofOne();
        self::assertNull($versions->pause($url, self::NOON));
        $versions->savePause($url, 60, self::NOON);

        self::assertSame(self::NOON + 60, $versions->pause($url, self::NOON)?->until);
        self::assertNull($versions->pause($url, self::NOON + 60));
    }

    #[Test]
    public function a_pause_that_began_by_a_clock_that_was_ahead_ends_when_that_is_set_right(): void
    {
        [$versions, $url] = self::ofOne();
        $versions->savePause($url, 60, self::NOON + 86_400);

        self::assertNull($versions->pause($url, self::NOON));
    }

    #[Test]
    public function the_pause_of_a_silent_server_doubles_up_to_ten_minutes_until_it_answers(): void
    {
        [$versions, $url] = self::ofOne();
        foreach ([60, 120, 240, 480, 600, 600] as $longest) {
            $seconds = $versions->saveSilence($url, 'no byte came', self::NOON)->until - self::NOON;
            self::assertGreaterThanOrEqual($longest / 2, $seconds);
            self::assertLessThanOrEqual($longest, $seconds);
        }
        $versions->saveAnswer($url->url, self::NOON + 600);

        self::assertNull($versions->pause($url, self::NOON + 600));
        self::assertSame(0, $versions->silentRuns($url->url));
    }

    /** @return array{KnownVersions, HttpUrl} */
    private static function ofOne(): array
    {
        return [new KnownVersions(MigratedDatabase::inMemory(), 3600), HttpUrl::read('http:' . self::URL)];
    }
}
