<?php

declare(strict_types=1);

namespace TrendVault\Writer\Tests\Faults;

use PHPUnit\Framework\Attributes\Test;
use TrendVault\Writer\ExitCode;
use TrendVault\Writer\Tests\Pull\FakeEdge;
use TrendVault\Writer\Tests\Pull\PullTestCase;
use TrendVault\Writer\Tests\Support\Installation;
use TrendVault\Writer\Tests\Support\SmallDisk;

final class PullDiskFullTest extends PullTestCase
{
    #[Test]
    public function a_full_disk_while_pulling_is_named_and_loses_nothing(): void
    {
        $disk = new SmallDisk();
        $environment = [...$this->installation->environment, 'VIEWS_CEILING_FACTOR' => '1000'];
        $small = new Installation($environment, "$disk->path/test.db");
        $small->run(['migrate']);
        $ranks = array_map(static fn(int $rank): array => [$rank, "v$rank", 2, 1], range(1, 9000));
        $impressions = array_map(
            fn(int $i): array => FakeEdge::impressions($this->now, $ranks, "c$i"),
            range(1, 4),
        );
        $this->edge->hold(['GB-0' => ['last_closed' => $this->now, 'looks' => $impressions]]);
        $disk->fillUpTo(600_000);

        $full = $small->run(['ingest', "edge:{$this->edge->url}"]);
        self::assertSame(ExitCode::DiskFull, $full->exitCode, $full->errors);
        self::assertStringContainsString('the disk is full', $full->message());

        $disk->empty();
        self::assertSame(ExitCode::Ok, $small->run(['ingest', "edge:{$this->edge->url}"])->exitCode);
        self::assertSame(72_000, $small->value('SELECT impressions FROM pull_regions'));
        self::assertSame(36_000, $small->value('SELECT sum(clicks) FROM pulled_counts'));
    }
}
