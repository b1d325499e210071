<?php

declare(strict_types=1);

namespace TrendVault\Writer\Tests\Sources\YouTube;

use PHPUnit\Framework\TestCase;
use Symfony\Component\HttpClient\HttpClient;
use TrendVault\Writer\Database\Database;
use TrendVault\Writer\Sources\Schedule;
use TrendVault\Writer\Sources\SourceFailure;
use TrendVault\Writer\Sources\YouTube\Api;
use TrendVault\Writer\Sources\YouTube\ChartedVideos;
use TrendVault\Writer\Sources\YouTube\KnownPages;
use TrendVault\Writer\Sources\YouTube\RegionTurns;
use TrendVault\Writer\Sources\YouTube\RetryPolicy;
use TrendVault\Writer\Sources\YouTube\YouTubeSource;
use TrendVault\Writer\Tests\Support\FixedClock;
use TrendVault\Writer\Tests\Support\MigratedDatabase;

/** The source in front of a server that answers as it is told. */
abstract class YouTubeTestCase extends TestCase
{
    protected const string KEY = 'AIza-a-key-that-nobody-may-see';

    protected StubServer $server;
    protected Database $database;
    protected Schedule $schedule;
    protected RegionTurns $turns;
    protected ?string $failure = null;

    protected function setUp(): void
    {
        $this->server = new StubServer();
        $this->database = MigratedDatabase::inMemory();
        $this->schedule = new Schedule($this->database, 'youtube', 600);
        $this->turns = new RegionTurns($this->database);
    }

    /**
     * @param list<string> $regions
     * @return list<array<string, mixed>>
     */
    protected function read(array $regions): array
    {
        $this->source($regions, $lines);

        return $lines;
    }

    /**
     * @param list<string> $regions
     * @param ?list<array<string, mixed>> $lines
     */
    protected function source(array $regions, ?array &$lines): void
    {
        $source = new YouTubeSource(
            new Api(
                HttpClient::create(),
                new RetryPolicy(40.0, delayMilliseconds: 1),
                self::KEY,
                $this->server->url,
            ),
            new KnownPages($this->database),
            new ChartedVideos($this->database),
            $this->schedule,
            $this->turns,
            $regions,
            new FixedClock(),
        );
        $lines = [];
        try {
            foreach ($source->lines() as $line) {
                $lines[] = json_decode($line, true, flags: JSON_THROW_ON_ERROR);
            }
        } catch (SourceFailure $failure) {
            $this->failure = $failure->getMessage();
        }
        $source->settle(clean: true);
    }
}
