<?php

declare(strict_types=1);

namespace TrendVault\Writer\Tests\Sources\YouTube;

use Symfony\Component\HttpClient\HttpClient;
use TrendVault\Writer\Sources\Schedule;
use TrendVault\Writer\Sources\YouTube\Api;
use TrendVault\Writer\Sources\YouTube\Charts;
use TrendVault\Writer\Sources\YouTube\QuotaRecord;
use TrendVault\Writer\Sources\YouTube\RetryPolicy;
use TrendVault\Writer\Sources\YouTube\YouTubeSource;
use TrendVault\Writer\Tests\Sources\PlatformTestCase;

/** The source in front of a server that answers as it is told. */
abstract class YouTubeTestCase extends PlatformTestCase
{
    protected const string KEY = 'AIza-a-key-that-nobody-may-see';

    protected StubServer $server;
    protected Schedule $schedule;
    protected Charts $charts;

    protected function setUp(): void
    {
        parent::setUp();
        $this->server = new StubServer();
        $this->schedule = new Schedule($this->database, 'youtube', 600);
        $this->charts = new Charts($this->database);
    }

    /**
     * @param list<string> $regions
     * @return list<array<string, mixed>>
     */
    protected function read(array $regions): array
    {
        return $this->linesOf(
            new YouTubeSource(
                new Api(
                    HttpClient::create(),
                    new RetryPolicy(40.0, delayMilliseconds: 1),
                    self::KEY,
                    $this->server->url,
                    new QuotaRecord($this->database, $this->clock),
                ),
                $this->charts,
                $this->schedule,
                $regions,
                $this->clock,
            ),
        );
    }
}
