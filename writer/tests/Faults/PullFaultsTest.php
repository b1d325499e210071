<?php

declare(strict_types=1);

namespace TrendVault\Writer\Tests\Faults;

use Override;
use PHPUnit\Framework\Attributes\DataProvider;
use PHPUnit\Framework\Attributes\Test;
use Random\Randomizer;
use Throwable;
use TrendVault\Writer\ExitCode;
use TrendVault\Writer\Tests\Pull\DrawnMinutes;
use TrendVault\Writer\Tests\Pull\FakeEdge;
use TrendVault\Writer\Tests\Pull\PullTestCase;
use TrendVault\Writer\Tests\Support\Draws;
use TrendVault\Writer\Tests\Support\Installation;
use TrendVault\Writer\Tests\Support\Process;
use TrendVault\Writer\Tests\Support\ProcessResult;
use TrendVault\Writer\Tests\Support\SmallDisk;

/** Whatever happens between writer and edge, the counts in SQLite are the edge's: no minute twice, none left out. */
final class PullFaultsTest extends PullTestCase
{
    /** So that nothing is scaled down, and sums can be compared. */
    private const string FACTOR = '1000';
    /** Attempts to kill a run while it works, for each kill that is wanted. */
    private const int MOST_ATTEMPTS = 20;
    /** A run stops counting when it takes long, and the next one goes on. */
    private const int MOST_RUNS = 10;
    /** Adds up what is stored of each video, since the writer deletes a minute that has been counted. */
    private const string ADD_UP = <<<'SQL'
    CREATE TABLE stored (region, video_id, impressions, clicks);
    CREATE TRIGGER first AFTER INSERT ON pulled_counts BEGIN
      INSERT INTO stored VALUES (NEW.region, NEW.video_id, NEW.impressions, NEW.clicks);
    END;
    CREATE TRIGGER more AFTER UPDATE ON pulled_counts BEGIN
      INSERT INTO stored VALUES (NEW.region, NEW.video_id, NEW.impressions - OLD.impressions, NEW.clicks - OLD.clicks);
    END;
    SQL;
    private const string STORED = <<<'SQL'
    SELECT region, video_id, sum(impressions) AS impressions, sum(clicks) AS clicks FROM stored GROUP BY 1, 2 ORDER BY 1, 2
    SQL;

    private Randomizer $random;
    private DrawnMinutes $minutes;

    #[Override]
    protected function setUp(): void
    {
        parent::setUp();
        $this->random = Draws::randomizer();
        $this->installation->environment['VIEWS_CEILING_FACTOR'] = self::FACTOR;
        $this->installation->execute(self::ADD_UP);
        $this->minutes = new DrawnMinutes($this->edge, $this->random, $this->now, self::VIDEOS);
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
            $this->minutes->pass();
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
        $this->assertRanksByTheSameImpressions();
    }

    /** @param string $fault for ever, in every answer about minutes */
    #[Test]
    #[DataProvider('faults')]
    public function an_answer_with_a_fault_is_left_out_whole_and_said(string $fault): void
    {
        $this->minutes->pass();
        $this->pull();
        $this->minutes->pass();
        $before = $this->fingerprint();
        $this->edge->fail(['', ...array_fill(0, 40, $fault)]);

        $run = $this->pull();

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
        $this->minutes->pass();
        $before = Process::cpuNanosecondsOfChildren();
        $this->pull();
        $cpuOfRun = Process::cpuNanosecondsOfChildren() - $before;
        $kills = Draws::count(usual: 20, long: 200);
        for ($attempt = 0; $this->installation->unfinishedRuns() < $kills; $attempt++) {
            self::assertLessThan(self::MOST_ATTEMPTS * $kills, $attempt, 'too few died while they worked');
            $this->minutes->pass();
            $process = $this->installation->start(['ingest', "edge:{$this->edge->url}"]);
            $process->killAtCpuTime($this->random->getInt(0, $cpuOfRun));
            self::assertNothingExceedsTheEdge();
        }

        $this->assertAllIsCountedAtLast();
        $this->assertRanksByTheSameImpressions();
    }

    #[Test]
    public function writers_that_run_at_once_count_no_minute_twice(): void
    {
        for ($round = 0; $round < 4; $round++) {
            $this->minutes->pass();
            $writers = array_map(fn(): Process => $this->installation->start(['cron']), [1, 2, 3]);
            foreach ($writers as $writer) {
                self::assertContains($writer->wait()->exitCode, [ExitCode::Ok, ExitCode::AlreadyRunning]);
            }
        }

        $this->assertAllIsCountedAtLast();
        $this->assertRanksByTheSameImpressions();
    }

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

    /** @return array<string, array{int, int}> */
    private function stored(): array
    {
        $stored = [];
        foreach ($this->installation->rows(self::STORED) as $row) {
            $stored["{$row['region']} {$row['video_id']}"] = [$row['impressions'], $row['clicks']];
        }

        return $stored;
    }

    private function assertNothingExceedsTheEdge(): void
    {
        $truth = $this->minutes->sums();
        foreach ($this->stored() as $key => [$impressions, $clicks]) {
            self::assertLessThanOrEqual($truth[$key][0], $impressions, Draws::hint());
            self::assertLessThanOrEqual($truth[$key][1], $clicks, Draws::hint());
        }
    }

    private function pull(): ProcessResult
    {
        return $this->installation->run(['ingest', "edge:{$this->edge->url}"]);
    }

    /** After a run without faults. */
    private function assertAllIsCountedAtLast(): void
    {
        $this->minutes->passAll();
        $this->edge->fail([]);
        $unsettled = 'SELECT count(*) FROM pulled_counts WHERE minute < ' . $this->now;
        $runs = 0;
        do {
            $run = $this->pull();
            self::assertSame(ExitCode::Ok, $run->exitCode, $run->errors . Draws::hint());
            self::assertLessThan(self::MOST_RUNS, $runs++, Draws::hint());
        } while ($this->installation->value($unsettled) > 0);
        self::assertSame($this->minutes->sums(), $this->stored(), Draws::hint());
        $sums = $this->installation->rows(
            'SELECT sum(impressions) AS impressions, sum(settled_impressions) AS settled, sum(counted_impressions) AS counted FROM pull_regions',
        )[0];
        $impressions = array_sum(array_column($this->minutes->sums(), 0));
        self::assertEquals(
            ['impressions' => $impressions, 'settled' => $impressions, 'counted' => $impressions],
            $sums,
            Draws::hint(),
        );
        self::assertSame('ok', $this->installation->value('PRAGMA integrity_check'));
    }

    /** As a writer to which nothing happened. */
    private function assertRanksByTheSameImpressions(): void
    {
        $undisturbed = self::writerOf($this->edge, ['VIEWS_CEILING_FACTOR' => self::FACTOR]);
        $settled = 'SELECT sum(settled_impressions) FROM pull_regions';
        do {
            $undisturbed->run(['cron']);
        } while ($undisturbed->value($settled) < $this->installation->value($settled));
        $sql = 'SELECT * FROM impressions ORDER BY region, video_id, rank_group, age_group';
        [$expected, $impressions] = [$undisturbed->rows($sql), $this->installation->rows($sql)];
        self::assertCount(count($expected), $impressions, Draws::hint());
        foreach ($expected as $index => $row) {
            self::assertEqualsWithDelta(
                $row['impressions'],
                $impressions[$index]['impressions'],
                1e-6,
                Draws::hint(),
            );
            self::assertEqualsWithDelta($row['clicks'], $impressions[$index]['clicks'], 1e-6, Draws::hint());
        }
    }

    private function fingerprint(): string
    {
        return implode(
            ' ',
            array_map($this->installation->fingerprint(...), [
                'SELECT shard, after FROM pull_shards ORDER BY shard',
                self::STORED,
                'SELECT * FROM pull_regions ORDER BY region',
                'SELECT * FROM pulled_counts',
                'SELECT * FROM pulled_lists',
            ]),
        );
    }
}
