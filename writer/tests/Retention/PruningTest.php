<?php

declare(strict_types=1);

namespace TrendVault\Writer\Tests\Retention;

use PHPUnit\Framework\Attributes\DataProvider;
use PHPUnit\Framework\Attributes\Test;
use PHPUnit\Framework\TestCase;
use TrendVault\Writer\Database\Database;
use TrendVault\Writer\Ranking\RankingPublisher;
use TrendVault\Writer\Retention\Cutoff;
use TrendVault\Writer\Retention\Pruning;
use TrendVault\Writer\Tests\Support\Draws;
use TrendVault\Writer\Tests\Support\FixedClock;
use TrendVault\Writer\Tests\Support\MigratedDatabase;
use TrendVault\Writer\Tests\Support\StoredObservations;

final class PruningTest extends TestCase
{
    private const int NOON = FixedClock::NOON;
    private const int DAY_SECONDS = 86_400;
    private const int KEEP_DAYS = 28;

    private Database $database;

    protected function setUp(): void
    {
        $this->database = MigratedDatabase::inMemory();
    }

    #[Test]
    public function videos_that_were_not_observed_within_the_time_are_deleted_and_the_rest_stays(): void
    {
        StoredObservations::in($this->database, [
            StoredObservations::observation('gone', observedAt: self::NOON - 29 * self::DAY_SECONDS),
            StoredObservations::observation('stays', observedAt: self::NOON - 29 * self::DAY_SECONDS),
            StoredObservations::observation('stays', observedAt: self::NOON - 27 * self::DAY_SECONDS),
        ]);
        $pruned = $this->prune();

        self::assertSame([2, 1], [$pruned['observations'], $pruned['videos']]);
        self::assertSame(['stays'], array_column($this->database->rows('SELECT id FROM videos'), 'id'));
        self::assertSame(
            ['stays'],
            array_column($this->database->rows('SELECT video_id FROM velocity'), 'video_id'),
        );
        self::assertSame(
            [self::NOON - 27 * self::DAY_SECONDS],
            array_column($this->database->rows('SELECT observed_at FROM observations'), 'observed_at'),
        );
    }

    #[Test]
    public function a_video_that_a_kept_generation_lists_is_deleted_with_that_generation(): void
    {
        StoredObservations::in($this->database, [
            StoredObservations::observation('old', observedAt: self::NOON - 29 * self::DAY_SECONDS),
        ]);
        $ranking = new RankingPublisher($this->database);
        $ranking->publish(self::NOON);

        self::assertSame(0, $this->prune()['videos']);
        $ranking->publish(self::NOON + 1);
        $ranking->publish(self::NOON + 2);
        self::assertSame(1, $this->prune()['videos']);
    }

    #[Test]
    public function the_newest_generations_stay_whole(): void
    {
        StoredObservations::in($this->database, [StoredObservations::observation()]);
        $ranking = new RankingPublisher($this->database);
        for ($generation = 1; $generation <= 5; $generation++) {
            $ranking->publish(self::NOON + $generation);
        }

        self::assertSame(3, $this->prune()['generations']);
        foreach (
            [
                'SELECT id FROM generations',
                'SELECT DISTINCT generation FROM generation_regions',
                'SELECT DISTINCT generation FROM trending',
            ]
            as $sql
        ) {
            self::assertSame([4, 5], array_map(current(...), $this->database->rows("$sql ORDER BY 1")));
        }
    }

    #[Test]
    public function old_runs_are_deleted_together_with_their_rejections_and_failures(): void
    {
        foreach ([29, 27] as $days) {
            $this->database->run("INSERT INTO runs (command, started_at) VALUES ('cron', ?)", [
                self::NOON - $days * self::DAY_SECONDS,
            ]);
        }
        $this->database->execute(
            "INSERT INTO rejections (run_id, reason, line_count) VALUES (1, 'not_json', 1), (2, 'not_json', 1)",
        );
        $this->database->execute(
            "INSERT INTO source_failures (run_id, source) VALUES (1, 'spool'), (2, 'spool')",
        );
        $this->prune();

        self::assertSame([2, 3], array_column($this->database->rows('SELECT id FROM runs'), 'id'));
        foreach (['rejections', 'source_failures'] as $table) {
            self::assertSame([2], array_column($this->database->rows("SELECT run_id FROM $table"), 'run_id'));
        }
    }

    /** @return iterable<string, array{int}> */
    public static function jumps(): iterable
    {
        foreach ([3, 10, 40, 400, 20_000] as $days) {
            yield "$days days" => [$days];
        }
        [$random, $draws] = [Draws::randomizer(), Draws::count(usual: 5, long: 200)];
        for ($draw = 0; $draw < $draws; $draw++) {
            $days = $random->getInt(3, 5000);
            yield "draw $draw, $days days (" . Draws::hint() . ')' => [$days];
        }
    }

    #[Test]
    #[DataProvider('jumps')]
    public function a_clock_that_jumps_deletes_nothing_and_a_wrong_day_of_data_at_most_the_oldest_day(
        int $days,
    ): void {
        for ($day = 0; $day < self::KEEP_DAYS; $day++) {
            $time = self::NOON - $day * self::DAY_SECONDS;
            StoredObservations::in($this->database, [
                StoredObservations::observation("of-day-$day", observedAt: $time),
            ]);
            $this->recordRun($time);
        }
        $jumped = self::NOON + $days * self::DAY_SECONDS;
        self::assertSame(0, $this->pruneAt($jumped)['observations']);

        // Runs every minute under the wrong clock, which stamps what it reads.
        for ($minute = 0; $minute < 5; $minute++) {
            $this->recordRun($jumped + 60 * $minute);
            StoredObservations::in($this->database, [
                StoredObservations::observation('of-day-0', observedAt: $jumped + 60 * $minute),
            ]);
            self::assertLessThanOrEqual(1, $this->pruneAt($jumped + 60 * $minute)['observations']);
        }
        self::assertSame(
            self::KEEP_DAYS - 1,
            $this->database->value('SELECT count(*) FROM observations WHERE observed_at <= ?', [self::NOON]),
        );
    }

    #[Test]
    public function data_that_gets_old_is_deleted_by_a_steady_clock_although_nothing_new_comes(): void
    {
        StoredObservations::in($this->database, [StoredObservations::observation()]);
        $later = self::NOON + (self::KEEP_DAYS + 1) * self::DAY_SECONDS;
        self::assertSame(0, $this->pruneAt($later)['observations']);

        $this->recordRun($later - self::DAY_SECONDS);
        self::assertSame(1, $this->pruneAt($later)['observations']);
    }

    #[Test]
    public function more_rows_than_fit_a_transaction_are_all_deleted(): void
    {
        $this->database->execute(
            <<<'SQL'
            INSERT INTO observations (observed_at, region, video_id, views)
            WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 25000) SELECT i, 'GB', 'v', 0 FROM n
            SQL
            ,
        );

        self::assertSame(25_000, $this->prune()['observations']);
        self::assertSame(0, $this->database->value('SELECT count(*) FROM observations'));
    }

    /**
     * Under a clock that runs on steadily.
     *
     * @return array{generations: int, observations: int, videos: int, wal_truncated: bool}
     */
    private function prune(): array
    {
        $this->recordRun(self::NOON - 90_000);

        return $this->pruneAt(self::NOON);
    }

    /** @return array{generations: int, observations: int, videos: int, wal_truncated: bool} */
    private function pruneAt(int $now): array
    {
        $cutoff = new Cutoff($this->database)->of($now, 24 * self::KEEP_DAYS);

        return new Pruning($this->database)->prune($cutoff, generationRetentionSeconds: 0);
    }

    private function recordRun(int $startedAt): void
    {
        $this->database->run("INSERT INTO runs (command, started_at) VALUES ('cron', ?)", [$startedAt]);
    }
}
