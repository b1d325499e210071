<?php

declare(strict_types=1);

namespace TrendVault\Writer\Tests\Sources\PeerTube;

use PHPUnit\Framework\TestCase;
use Symfony\Component\HttpClient\HttpClient;
use TrendVault\Writer\Cli\Settings;
use TrendVault\Writer\Database\Database;
use TrendVault\Writer\Database\RegionTable;
use TrendVault\Writer\Sources\PeerTube\Api;
use TrendVault\Writer\Sources\PeerTube\InstanceUrl;
use TrendVault\Writer\Sources\PeerTube\KnownPages;
use TrendVault\Writer\Sources\PeerTube\PeerTubeSource;
use TrendVault\Writer\Sources\PeerTube\RegionRule;
use TrendVault\Writer\Sources\PeerTube\RunTime;
use TrendVault\Writer\Sources\Schedule;
use TrendVault\Writer\Sources\SourceFailure;
use TrendVault\Writer\Tests\Support\FixedClock;
use TrendVault\Writer\Tests\Support\MigratedDatabase;

/** The source in front of an instance that answers as it is told. */
abstract class PeerTubeTestCase extends TestCase
{
    protected FakePeerTube $instance;
    protected Database $database;
    protected FixedClock $clock;
    protected ?string $failure = null;

    protected function setUp(): void
    {
        $this->instance = new FakePeerTube();
        $this->database = MigratedDatabase::inMemory();
        $this->clock = new FixedClock();
    }

    /**
     * What a run reads.
     *
     * @return list<array<string, mixed>>
     */
    protected function read(string $regions = '', int $mostPages = 50, float $seconds = 60.0): array
    {
        $instance = InstanceUrl::read($this->instance->source . $regions);
        $source = new PeerTubeSource(
            $instance,
            new Api(HttpClient::create(), $instance, paceSeconds: 0.0),
            $this->known(),
            $this->schedule(),
            RegionRule::of($instance, self::languages()),
            new RunTime($seconds),
            $this->clock,
            $mostPages,
        );
        [$lines, $this->failure] = [[], null];
        try {
            foreach ($source->lines() as $line) {
                $lines[] = json_decode($line, true, flags: JSON_THROW_ON_ERROR);
            }
        } catch (SourceFailure $failure) {
            $this->failure = $failure->getMessage();
        }
        $source->settle(clean: true);

        return $lines;
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
