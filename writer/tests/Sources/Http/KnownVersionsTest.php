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
        $versions = new KnownVersions(MigratedDatabase::inMemory(), 3600);
        self::assertSame(0, $versions->retryAt(self::URL, self::NOON));
        $versions->savePause(HttpUrl::read('http:' . self::URL), self::NOON + 60, self::NOON);

        self::assertSame(self::NOON + 60, $versions->retryAt(self::URL, self::NOON));
    }

    #[Test]
    public function a_pause_that_began_by_a_clock_that_was_ahead_ends_when_that_is_set_right(): void
    {
        $versions = new KnownVersions(MigratedDatabase::inMemory(), 3600);
        $ahead = self::NOON + 86_400;
        $versions->savePause(HttpUrl::read('http:' . self::URL), $ahead + 60, $ahead);

        self::assertSame(0, $versions->retryAt(self::URL, self::NOON));
    }
}
