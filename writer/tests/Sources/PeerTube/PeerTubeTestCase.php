<?php

declare(strict_types=1);

namespace TrendVault\Writer\Tests\Sources\PeerTube;

use Symfony\Component\HttpClient\HttpClient;
use TrendVault\Writer\Cli\Settings;
use TrendVault\Writer\Database\RegionTable;
use TrendVault\Writer\Sources\PeerTube\Api;
use TrendVault\Writer\Sources\PeerTube\InstanceUrl;
use TrendVault\Writer\Sources\PeerTube\KnownPages;
use TrendVault\Writer\Sources\PeerTube\PeerTubeSource;
use TrendVault\Writer\Sources\PeerTube\RegionRule;
use TrendVault\Writer\Sources\RunTime;
use TrendVault\Writer\Sources\Schedule;
use TrendVault\Writer\Tests\Sources\PlatformTestCase;

/** The source in front of an instance that answers as it is told. */
abstract class PeerTubeTestCase extends PlatformTestCase
{
    protected FakePeerTube $instance;

    protected function setUp(): void
    {
        parent::setUp();
        $this->instance = new FakePeerTube();
    }

    /** @return list<array<string, mixed>> */
    protected function read(string $regions = '', int $mostPages = 50, float $seconds = 60.0): array
    {
        $instance = InstanceUrl::read($this->instance->source . $regions);

        return $this->linesOf(
            new PeerTubeSource(
                $instance,
                new Api(HttpClient::create(), $instance, paceSeconds: 0.0),
                $this->known(),
                $this->schedule(),
                RegionRule::of($instance, self::languages()),
                new RunTime($seconds),
                $this->clock,
                $mostPages,
            ),
        );
    }

    /** @return array<string, list<string>> */
    private static function languages(): array
    {
        $file = Settings::projectRoot() . '/db/regions.json';

        return RegionTable::read((string) file_get_contents($file))->languages();
    }

    protected function known(): KnownPages
    {
        return new KnownPages($this->database, $this->instance->host);
    }

    protected function schedule(): Schedule
    {
        return new Schedule($this->database, "peertube:{$this->instance->host}", 1800);
    }
}
