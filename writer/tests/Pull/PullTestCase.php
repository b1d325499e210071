<?php

declare(strict_types=1);

namespace TrendVault\Writer\Tests\Pull;

use PHPUnit\Framework\TestCase;
use TrendVault\Writer\Tests\Support\Installation;
use TrendVault\Writer\Tests\Support\NdjsonLine;

/** A writer with videos a to e, and a fake edge. */
abstract class PullTestCase extends TestCase
{
    protected const array VIDEOS = ['a', 'b', 'c', 'd', 'e'];

    protected FakeEdge $edge;
    protected Installation $installation;
    /** The newest minute that is over. */
    protected int $now;

    protected function setUp(): void
    {
        $this->edge = new FakeEdge();
        $this->installation = self::writerOf($this->edge);
        $this->now = intdiv(time(), 60) - 1;
    }

    /** @param array<string, string> $environment */
    protected static function writerOf(FakeEdge $edge, array $environment = []): Installation
    {
        $installation = Installation::migrated([
            'SOURCES' => "edge:$edge->url",
            'VIEWS_KEYS' => FakeEdge::KEYS,
            'SOURCE_TIMEOUT_SECONDS' => '600', // no fault of a test is a slow answer
            ...$environment,
        ]);
        $lines = array_map(
            static fn(string $id): array => ['id' => $id, 'observed_at' => NdjsonLine::ago(3600)],
            static::VIDEOS,
        );
        $installation->run(['ingest', '-'], NdjsonLine::many($lines));

        return $installation;
    }

    /** @return array<string, mixed> what is known of a region */
    protected function region(string $region = 'GB'): array
    {
        return $this->installation->rows("SELECT * FROM pull_regions WHERE region = '$region'")[0] ?? [];
    }
}
