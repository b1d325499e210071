<?php

declare(strict_types=1);

namespace TrendVault\Writer\Tests\Retention;

use PHPUnit\Framework\Attributes\DataProvider;
use PHPUnit\Framework\Attributes\Test;
use PHPUnit\Framework\TestCase;
use TrendVault\Writer\Cli\Settings;
use TrendVault\Writer\Commands\SourceKinds;
use TrendVault\Writer\Database\Database;
use TrendVault\Writer\Ranking\Generation;
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
    private const int KEPT_SECONDS = 7 * 86_400;
    /** Tables about sources, with the name of the source and when it was asked. */
    private const array NAMES = [
        'source_schedules' => 'source',
        'peertube_pages' => "'peertube:' || host",
        'peertube_instances' => "'peertube:' || host",
        'http_sources' => 'url_hash',
        'youtube_pages' => 'region',
        'youtube_regions' => 'region',
        'youtube_videos' => 'region',
    ];
    /** By day, for a week of days. */
    private const string QUOTA = 'youtube_quota';
    /** By run, and gone with it. */
    private const string FAILURES = 'source_failures';

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

    /** @return iterable<string, array{list<int>, list<int>}> seconds of publication, ids that stay for 1500 seconds */
    public static function publications(): iterable
    {
        yield 'every minute' => [range(0, 3000, 60), range(25, 51)];
        yield 'once an hour' => [[0, 3600, 7200], [2, 3]];
        yield 'the one that was replaced a moment ago, after an hour' => [[0, 60, 3660, 3670], [2, 3, 4]];
        yield 'a clock that jumped by 40 days' => [[0, 60, 120, 3_456_000], [3, 4]];
        yield 'a clock that jumped and was set back' => [[0, 60, 3_456_000, 120, 180], [1, 2, 3, 4, 5]];
        yield 'some time after it was set back' => [[0, 60, 3_456_000, 120, 1600, 1640], [4, 5, 6]];
    }

    /**
     * @param list<int> $times
     * @param list<int> $kept
     */
    #[Test]
    #[DataProvider('publications')]
    public function a_generation_stays_for_its_time_after_the_next_one_was_published(
        array $times,
        array $kept,
    ): void {
        StoredObservations::in($this->database, [StoredObservations::observation()]);
        $ranking = new RankingPublisher($this->database);
        array_walk($times, static fn(int $time): Generation => $ranking->publishAt(self::NOON + $time));
        new Pruning($this->database)->prune(null, generationRetentionSeconds: 1500);

        self::assertSame(
            $kept,
            array_column($this->database->rows('SELECT id FROM generations ORDER BY id'), 'id'),
        );
    }

    #[Test]
    public function nothing_refers_to_a_generation_that_is_deleted(): void
    {
        StoredObservations::in($this->database, [StoredObservations::observation()]);
        $ranking = new RankingPublisher($this->database);
        foreach ([0, 60, 3600] as $time) {
            $ranking->publishAt(self::NOON + $time);
        }
        $this->database->execute(
            'INSERT INTO explored_ranks SELECT generation, region, window, category, rank FROM trending',
        );
        $this->database->execute('CREATE TABLE newer (generation INTEGER REFERENCES generations (id))');
        $this->database->execute('INSERT INTO newer SELECT id FROM generations');
        new Pruning($this->database)->prune(null, generationRetentionSeconds: 1500);

        self::assertSame([], $this->database->rows('PRAGMA foreign_key_check'));
        self::assertSame(
            [2, 3],
            array_column($this->database->rows('SELECT generation FROM newer'), 'generation'),
        );
        self::assertSame(1, $this->database->value('PRAGMA foreign_keys'), 'They are kept again.');
    }

    #[Test]
    public function the_default_is_as_long_as_an_answer_is_used_and_ten_minutes_of_reading(): void
    {
        $seconds = self::constants(Settings::projectRoot() . '/contract/lists.ts');

        self::assertCount(4, $seconds);
        self::assertGreaterThanOrEqual(
            array_sum($seconds) + 600,
            Settings::read([], null)->generationRetentionSeconds,
        );
    }

    #[Test]
    public function what_is_kept_of_sources_goes_when_they_are_not_asked_for_a_week_and_no_sooner(): void
    {
        $random = Draws::randomizer();
        $database = MigratedDatabase::inMemory();
        $asked = [];
        foreach (
            array_column($database->rows('SELECT code FROM regions LIMIT 5'), 'code')
            as $number => $region
        ) {
            $age = $random->getInt(0, 1) * self::KEPT_SECONDS + $random->getInt(0, self::KEPT_SECONDS);
            self::askAll($database, $number, $region, FixedClock::NOON - $age);
            if ($age <= self::KEPT_SECONDS) {
                array_push($asked, $region, "peertube:tube$number.example:8443", str_repeat("$number", 64));
            }
        }
        new Pruning($database)->forgetUnasked(SourceKinds::forgetting(), FixedClock::NOON);

        foreach (self::NAMES as $table => $name) {
            $left = array_column(
                $database->rows("SELECT DISTINCT $name AS name FROM $table ORDER BY name"),
                'name',
            );
            self::assertSame([], array_diff($left, $asked), "$table, " . Draws::hint());
            self::assertCount(intdiv(count($asked), 3), $left, "$table, " . Draws::hint());
        }
    }

    #[Test]
    public function what_was_used_of_a_quota_stays_for_a_week(): void
    {
        $database = MigratedDatabase::inMemory();
        foreach ([self::KEPT_SECONDS, self::KEPT_SECONDS + 1] as $age) {
            $database->run("INSERT INTO youtube_quota VALUES (?, 'charts', 5)", [FixedClock::NOON - $age]);
        }
        new Pruning($database)->forgetUnasked(SourceKinds::forgetting(), FixedClock::NOON);

        self::assertSame(
            FixedClock::NOON - self::KEPT_SECONDS,
            $database->value('SELECT sum(day_began_at) FROM youtube_quota'),
        );
    }

    #[Test]
    public function every_table_about_sources_is_emptied(): void
    {
        $database = MigratedDatabase::inMemory();
        $tables = array_column(
            $database->rows(
                "SELECT name FROM sqlite_schema WHERE type = 'table' AND name GLOB '*[_]*' AND
                  (name GLOB 'youtube*' OR name GLOB 'peertube*' OR name GLOB '*source*')",
            ),
            'name',
        );

        self::assertEqualsCanonicalizing([...array_keys(self::NAMES), self::QUOTA, self::FAILURES], $tables);
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

    /** @return list<int> how long a browser and a shared cache use an answer, fresh and stale */
    private static function constants(string $file): array
    {
        preg_match_all(
            '/^  (?:browserFresh|browserStale|fresh|stale): (\d+),/m',
            (string) file_get_contents($file),
            $found,
        );

        return array_map(intval(...), $found[1]);
    }

    private static function askAll(Database $database, int $number, string $region, int $at): void
    {
        $host = "tube$number.example:8443";
        $database->run('INSERT INTO source_schedules VALUES (?, ?, 0, ?, NULL)', [
            "peertube:$host",
            $at,
            $at,
        ]);
        $database->run("INSERT INTO peertube_pages VALUES (?, 0, 'x', 1, ''), (?, 1, 'x', 1, '')", [
            $host,
            $host,
        ]);
        $database->run('INSERT INTO peertube_instances VALUES (?, 1)', [$host]);
        $database->run('INSERT INTO http_sources (url_hash, asked_at, retry_at) VALUES (?, ?, 0)', [
            str_repeat("$number", 64),
            $at,
        ]);
        $database->run("INSERT INTO youtube_pages VALUES (?, 1, 'x', NULL, ?)", [$region, $at]);
        $database->run('INSERT INTO youtube_regions VALUES (?, ?)', [$region, $at]);
        $database->run("INSERT INTO youtube_videos VALUES (?, 'v', 1, ?)", [$region, $at]);
    }
}
