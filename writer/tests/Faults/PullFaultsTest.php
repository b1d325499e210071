<?php

declare(strict_types=1);

namespace TrendVault\Writer\Tests\Faults;

use Override;
use PHPUnit\Framework\Attributes\DataProvider;
use PHPUnit\Framework\Attributes\Test;
use Random\Randomizer;
use Throwable;
use TrendVault\Writer\Cli\ExitCode;
use TrendVault\Writer\Tests\Pull\FakeEdge;
use TrendVault\Writer\Tests\Pull\PullTestCase;
use TrendVault\Writer\Tests\Support\Draws;
use TrendVault\Writer\Tests\Support\Installation;
use TrendVault\Writer\Tests\Support\Process;

/** Whatever happens between writer and edge, the counts in SQLite are the edge's: no minute twice, none left out. */
final class PullFaultsTest extends PullTestCase
{
    private const array SHARDS = ['GB-0', 'GB-1', 'DE-0', 'FR-0'];
    /** So that nothing is scaled down, and sums can be compared. */
    private const string FACTOR = '1000';

    private Randomizer $random;
    /** @var array<string, array<string, mixed>> what the edge holds, by shard */
    private array $held = [];

    #[Override]
    protected function setUp(): void
    {
        parent::setUp();
        $this->random = Draws::randomizer();
        $this->installation->environment['VIEWS_CEILING_FACTOR'] = self::FACTOR;
        foreach (self::SHARDS as $shard) {
            $this->held[$shard] = [
                'last_closed' => $this->now - 300,
                'looks' => [],
                'served' => [],
                'limit' => 7,
            ];
        }
    }

    #[Override]
    protected function onNotSuccessfulTest(Throwable $failure): never
    {
        fwrite(
            STDERR,
            "\nPullFaultsTest failed with " . Draws::hint() . "; set it to repeat the same faults.\n",
        );
        throw $failure;
    }

    #[Test]
    public function drawn_faults_count_no_minute_twice_and_leave_none_out(): void
    {
        $rounds = Draws::count(usual: 25, long: 300);
        for ($round = 0; $round < $rounds; $round++) {
            $this->drawMinutes();
            $this->edge->fail($this->drawFaults());
            $run = $this->installation->run(['cron']);
            self::assertContains(
                $run->exitCode,
                [ExitCode::Ok, ExitCode::SourceFailed],
                $run->errors . Draws::hint(),
            );
            self::assertNothingExceedsTheEdge();
        }

        $this->assertAllIsCountedAtLast();
    }

    /** @param string $fault for ever, in every answer about minutes */
    #[Test]
    #[DataProvider('faults')]
    public function an_answer_with_a_fault_is_left_out_whole_and_said(string $fault): void
    {
        $this->drawMinutes();
        $this->installation->run(['cron']);
        $this->drawMinutes();
        $before = $this->fingerprint();
        $this->edge->fail(['', ...array_fill(0, 40, $fault)]);

        $run = $this->installation->run(['cron']);

        self::assertSame(ExitCode::SourceFailed, $run->exitCode, $run->errors);
        self::assertStringContainsString('The edge ', $run->message('source_failed'));
        self::assertSame($before, $this->fingerprint());
        $this->edge->fail([]);
        $this->assertAllIsCountedAtLast();
    }

    /** @return array<string, array{string}> */
    public static function faults(): array
    {
        return array_combine(
            FakeEdge::FAULTS,
            array_map(static fn(string $fault): array => [$fault], FakeEdge::FAULTS),
        );
    }

    #[Test]
    public function kills_at_random_moments_count_no_minute_twice_and_leave_none_out(): void
    {
        $this->drawMinutes();
        $cpuOfRun = self::cpuNanosecondsOf($this->installation->start(['ingest', "edge:{$this->edge->url}"]));
        $kills = Draws::count(usual: 40, long: 400);
        for ($kill = 0; $kill < $kills; $kill++) {
            $this->drawMinutes();
            $process = $this->installation->start(['ingest', "edge:{$this->edge->url}"]);
            $process->killAtCpuTime($this->random->getInt(0, $cpuOfRun));
            self::assertNothingExceedsTheEdge();
        }
        self::assertGreaterThan(
            $kills / 10,
            $this->installation->value('SELECT count(*) FROM runs WHERE finished_at IS NULL'),
            'too few runs were killed while they worked',
        );

        $this->assertAllIsCountedAtLast();
    }

    #[Test]
    public function writers_that_run_at_once_count_no_minute_twice(): void
    {
        for ($round = 0; $round < 4; $round++) {
            $this->drawMinutes();
            $writers = array_map(fn(): Process => $this->installation->start(['cron']), [1, 2, 3]);
            foreach ($writers as $writer) {
                self::assertContains($writer->wait()->exitCode, [ExitCode::Ok, ExitCode::AlreadyRunning]);
            }
        }

        $this->assertAllIsCountedAtLast();
    }

    #[Test]
    public function a_full_disk_while_pulling_is_named_and_loses_nothing(): void
    {
        $disk = "{$this->installation->folder->path}/disk";
        mkdir($disk);
        exec('mount -t tmpfs -o size=8m tmpfs ' . escapeshellarg($disk) . ' 2>&1', $output, $failed);
        if ($failed !== 0) {
            self::markTestSkipped('this user may not mount a small disk: ' . implode(' ', $output));
        }
        try {
            $small = new Installation(
                $this->installation->environment,
                "$disk/test.db",
                $this->installation->folder,
            );
            $small->run(['migrate']);
            $ranks = array_map(static fn(int $rank): array => [$rank, "v$rank", 2, 1], range(1, 9000));
            $looks = array_map(fn(int $i): array => self::looks($this->now, $ranks, "c$i"), range(1, 4));
            $this->edge->hold(['GB-0' => ['last_closed' => $this->now, 'looks' => $looks]]);
            file_put_contents("$disk/ballast", str_repeat('x', (int) disk_free_space($disk) - 600_000));

            $full = $small->run(['ingest', "edge:{$this->edge->url}"]);
            self::assertSame(ExitCode::DiskFull, $full->exitCode, $full->errors);
            self::assertStringContainsString('the disk is full', $full->message());

            unlink("$disk/ballast");
            self::assertSame(ExitCode::Ok, $small->run(['ingest', "edge:{$this->edge->url}"])->exitCode);
            self::assertSame(72_000, $small->value('SELECT looks FROM pull_regions'));
            self::assertSame(36_000, $small->value('SELECT sum(views) FROM pulled_videos'));
        } finally {
            exec('umount -l ' . escapeshellarg($disk));
        }
    }

    /** Lets some minutes pass at the edge, in which visitors do something. */
    private function drawMinutes(): void
    {
        foreach ($this->held as &$shard) {
            $from = $shard['last_closed'] + 1;
            $until = min($this->now, $from + $this->random->getInt(0, 6) - 1);
            for ($minute = $from; $minute <= $until; $minute++) {
                foreach (range(1, $this->random->getInt(1, 3)) as $generation) {
                    $looks = [];
                    foreach (self::VIDEOS as $index => $video) {
                        $looks[] = [
                            $index + 1,
                            $video,
                            $this->random->getInt(0, 9),
                            $this->random->getInt(0, 3),
                        ];
                    }
                    $shard['looks'][] = self::looks($minute, $looks, '', $generation);
                }
                $shard['served'][] = self::served($minute, $this->random->getInt(1, 20));
            }
            $shard['last_closed'] = max($until, $from - 1);
        }
        unset($shard);
        $this->edge->hold($this->held);
    }

    /** @return list<string> for the requests of one run; half of them are answered rightly */
    private function drawFaults(): array
    {
        $faults = [];
        for ($request = 0; $request < 12; $request++) {
            $any = FakeEdge::FAULTS[$this->random->getInt(0, count(FakeEdge::FAULTS) - 1)];
            $faults[] = $this->random->getInt(0, 1) === 0 ? '' : $any;
        }

        return $faults;
    }

    /** @return array<string, array{int, int}> looks and views by region and video, of all shards */
    private function truth(): array
    {
        $sums = [];
        foreach ($this->held as $name => $shard) {
            foreach ($shard['looks'] as ['ranks' => $ranks]) {
                foreach ($ranks as [, $video, $looks, $views]) {
                    $sum = $sums[substr($name, 0, 2) . " $video"] ?? [0, 0];
                    $sums[substr($name, 0, 2) . " $video"] = [$sum[0] + $looks, $sum[1] + $views];
                }
            }
        }
        ksort($sums);

        return $sums;
    }

    /** @return array<string, array{int, int}> */
    private function stored(): array
    {
        $stored = [];
        foreach ($this->installation->rows('SELECT * FROM pulled_videos ORDER BY region, video_id') as $row) {
            $stored["{$row['region']} {$row['video_id']}"] = [$row['looks'], $row['views']];
        }

        return $stored;
    }

    private function assertNothingExceedsTheEdge(): void
    {
        $truth = $this->truth();
        foreach ($this->stored() as $key => [$looks, $views]) {
            self::assertLessThanOrEqual($truth[$key][0], $looks, Draws::hint());
            self::assertLessThanOrEqual($truth[$key][1], $views, Draws::hint());
        }
    }

    /** After a run without faults. */
    private function assertAllIsCountedAtLast(): void
    {
        foreach ($this->held as &$shard) {
            $shard['last_closed'] = $this->now; // Nothing happens in the minutes until now.
        }
        unset($shard);
        $this->edge->hold($this->held);
        $this->edge->fail([]);
        $run = $this->installation->run(['cron']);
        self::assertSame(ExitCode::Ok, $run->exitCode, $run->errors . Draws::hint());
        self::assertSame($this->truth(), $this->stored(), Draws::hint());
        $sums = $this->installation->rows(
            'SELECT sum(looks) AS looks, sum(settled_looks) AS settled, sum(counted_looks) AS counted FROM pull_regions',
        )[0];
        $looks = array_sum(array_column($this->truth(), 0));
        $late = $this->installation->rows('SELECT 1 FROM pulled_counts WHERE minute < ' . $this->now);
        self::assertEquals(
            ['looks' => $looks, 'settled' => $looks, 'counted' => $looks],
            $sums,
            Draws::hint(),
        );
        self::assertSame([], $late, Draws::hint());
        $this->assertRanksByTheSameLooks();
        self::assertSame('ok', $this->installation->value('PRAGMA integrity_check'));
    }

    /** As a writer to which nothing happened. */
    private function assertRanksByTheSameLooks(): void
    {
        $undisturbed = self::writerOf($this->edge, ['VIEWS_CEILING_FACTOR' => self::FACTOR]);
        $undisturbed->run(['cron']);
        $sql =
            'SELECT region, video_id, rank_group, looks, views FROM looks ORDER BY region, video_id, rank_group';
        [$expected, $looks] = [$undisturbed->rows($sql), $this->installation->rows($sql)];
        self::assertCount(count($expected), $looks, Draws::hint());
        foreach ($expected as $index => $row) {
            self::assertEqualsWithDelta($row['looks'], $looks[$index]['looks'], 1e-6, Draws::hint());
            self::assertEqualsWithDelta($row['views'], $looks[$index]['views'], 1e-6, Draws::hint());
        }
    }

    private function fingerprint(): string
    {
        return implode(
            ' ',
            array_map($this->installation->fingerprint(...), [
                'SELECT shard, after FROM pull_shards ORDER BY shard',
                'SELECT * FROM pulled_videos ORDER BY region, video_id',
                'SELECT * FROM pull_regions ORDER BY region',
                'SELECT * FROM pulled_counts',
                'SELECT * FROM pulled_lists',
            ]),
        );
    }

    private static function cpuNanosecondsOf(Process $process): int
    {
        $before = getrusage(mode: 1);
        $process->wait();
        $after = getrusage(mode: 1);
        $microseconds = static fn(array $usage): int => 1_000_000 *
            ($usage['ru_utime.tv_sec'] + $usage['ru_stime.tv_sec']) +
            $usage['ru_utime.tv_usec'] +
            $usage['ru_stime.tv_usec'];

        return 1000 * ($microseconds($after) - $microseconds($before));
    }
}
