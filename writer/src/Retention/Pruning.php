<?php

declare(strict_types=1);

namespace TrendVault\Writer\Retention;

use TrendVault\Writer\Database\Database;

/** Deletes what is older than the settings keep, in transactions of bounded size, then truncates the WAL. */
final readonly class Pruning
{
    private const int ROWS_PER_COMMIT = 10_000;
    /** For so long a source counts as one that is asked. */
    private const int ASKED_SECONDS = 7 * 86_400;

    /**
     * The age counts from the next generation: until then it was the newest, and its pages were handed out. It counts
     * up to the newest one, so that neither a clock that jumps nor a writer that rests deletes any. Two always stay.
     */
    private const string OLD_GENERATIONS = <<<'SQL'
    SELECT id FROM (
      SELECT id, min(published_at) OVER (ORDER BY id ROWS BETWEEN 1 FOLLOWING AND UNBOUNDED FOLLOWING) AS superseded_at,
        row_number() OVER (ORDER BY id DESC) AS place, last_value(published_at) OVER all_of_them AS newest_at
      FROM generations WINDOW all_of_them AS (ORDER BY id ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING)
    ) WHERE place > 2 AND superseded_at < newest_at - ?
    SQL;
    private const string OBSERVATIONS = <<<'SQL'
    DELETE FROM observations WHERE (observed_at, region, video_id) IN (
      SELECT observed_at, region, video_id FROM observations WHERE observed_at < ?1 ORDER BY observed_at, region, video_id LIMIT ?2
    )
    SQL;
    private const string VELOCITY = <<<'SQL'
    DELETE FROM velocity WHERE (video_id, region) IN (SELECT video_id, region FROM velocity WHERE last_observed_at < ?1 LIMIT ?2)
    SQL;
    /** A source describes no longer what has left its catalogue. */
    private const string RELEASE = <<<'SQL'
    UPDATE videos SET described_by = NULL WHERE id IN (
      SELECT DISTINCT v.id FROM catalogue AS c JOIN videos AS v ON v.id = c.video_id AND v.described_by = c.source
      WHERE c.announced_at < ?1 LIMIT ?2
    )
    SQL;
    private const string CATALOGUE = <<<'SQL'
    DELETE FROM catalogue WHERE (region, video_id, source) IN (
      SELECT region, video_id, source FROM catalogue WHERE announced_at < ?1 LIMIT ?2
    )
    SQL;
    private const string SOURCES = <<<'SQL'
    DELETE FROM sources WHERE id IN (
      SELECT id FROM sources WHERE heard_at < ?1
        AND id NOT IN (SELECT source FROM removal_claims UNION SELECT source FROM restrictions WHERE fields <> '{}') LIMIT ?2
    )
    SQL;
    private const string IMPRESSIONS = <<<'SQL'
    DELETE FROM impressions WHERE (region, video_id, rank_group, age_group) IN (
      SELECT region, video_id, rank_group, age_group FROM impressions WHERE counted_at < ?1 LIMIT ?2
    )
    SQL;
    private const string PLACED = <<<'SQL'
    DELETE FROM placed_ranks WHERE (region, window, category, rank, video_id) IN (
      SELECT region, window, category, rank, video_id FROM placed_ranks WHERE last_at < ?1 LIMIT ?2
    )
    SQL;
    /** A video that a kept generation lists is still shown. CROSS JOIN makes SQLite loop over the few generations, not the lists. */
    private const string VIDEOS = <<<'SQL'
    DELETE FROM videos WHERE id IN (
      SELECT v.id FROM videos AS v
      WHERE NOT EXISTS (SELECT 1 FROM velocity WHERE video_id = v.id)
        AND NOT EXISTS (SELECT 1 FROM catalogue WHERE video_id = v.id)
        AND NOT EXISTS (SELECT 1 FROM generations AS g CROSS JOIN trending AS t ON t.generation = g.id AND t.video_id = v.id)
      LIMIT ?1
    )
    SQL;
    private const string RUNS = 'DELETE FROM runs WHERE id IN (SELECT id FROM runs WHERE started_at < ?1 ORDER BY id LIMIT ?2)';

    private const string TABLES_OF_A_GENERATION = <<<'SQL'
    SELECT t.name FROM sqlite_schema AS t JOIN pragma_foreign_key_list(t.name) AS f WHERE t.type = 'table' AND f."table" = 'generations'
    SQL;

    public function __construct(private Database $database) {}

    /**
     * @param ?int $cutoff UTC seconds, see Cutoff: what is older is deleted; null for nothing
     * @param int $generationRetentionSeconds for so long a generation stays after the next one was published
     * @return array{generations: int, observations: int, videos: int, wal_truncated: bool} how many rows were deleted, and
     *   whether the WAL could be truncated: a reader may prevent it
     */
    public function prune(?int $cutoff, int $generationRetentionSeconds): array
    {
        $generations = $this->dropGenerations($generationRetentionSeconds);
        $observations = 0;
        if ($cutoff !== null) {
            $observations = $this->deleteAll(self::OBSERVATIONS, [$cutoff]);
            $this->deleteAll(self::VELOCITY, [$cutoff]);
            $this->deleteAll(self::RELEASE, [$cutoff]);
            $this->deleteAll(self::CATALOGUE, [$cutoff]);
            $this->deleteAll(self::SOURCES, [$cutoff]);
            $this->deleteAll(self::IMPRESSIONS, [$cutoff]);
            $this->deleteAll(self::PLACED, [$cutoff]);
            $this->deleteAll(self::RUNS, [$cutoff]);
        }
        $videos = $this->deleteAll(self::VIDEOS, []);

        return [
            'generations' => $generations,
            'observations' => $observations,
            'videos' => $videos,
            'wal_truncated' => $this->database->truncateWal(),
        ];
    }

    /**
     * Deletes what is only kept to ask a source for less, once it is not asked any more: it may name people, and no next
     * answer takes its place. With it go the days of quotas that are long over. A clock that jumps costs no more than that
     * everything is asked for anew.
     *
     * @param list<string> $statements of the kinds of sources, see SourceKind::FORGET
     * @param int $now UTC seconds
     */
    public function forgetUnasked(array $statements, int $now): void
    {
        $this->database->transaction(function () use ($statements, $now): void {
            foreach (['DELETE FROM source_schedules WHERE asked_at < ?', ...$statements] as $statement) {
                $this->database->run($statement, [$now - self::ASKED_SECONDS]);
            }
        });
    }

    /**
     * One transaction each: a reader sees all of a generation or none of it.
     *
     * @param list<int> $generations
     */
    public function drop(array $generations): void
    {
        $tables = $this->database->texts(self::TABLES_OF_A_GENERATION);
        $this->database->withoutForeignKeys(function () use ($generations, $tables): void {
            foreach ($generations as $id) {
                $this->database->transaction(fn() => $this->dropGeneration($id, $tables));
            }
        });
    }

    private function dropGenerations(int $retentionSeconds): int
    {
        $old = $this->database->integers(self::OLD_GENERATIONS, [$retentionSeconds]);
        $this->drop($old);

        return count($old);
    }

    /** @param list<string> $tables those that refer to generations */
    private function dropGeneration(int $id, array $tables): void
    {
        foreach ($tables as $table) {
            $this->database->run("DELETE FROM $table WHERE generation = ?", [$id]);
        }
        $this->database->run('DELETE FROM generations WHERE id = ?', [$id]);
    }

    /** @param list<int> $values the statement's first parameters; its last one is the number of rows */
    private function deleteAll(string $sql, array $values): int
    {
        $total = 0;
        do {
            $deleted = $this->database->transaction(
                fn(): int => $this->database->run($sql, [...$values, self::ROWS_PER_COMMIT]),
            );
            $total += $deleted;
        } while ($deleted === self::ROWS_PER_COMMIT);

        return $total;
    }
}

/**
 * The time before which observations are deleted. docs/decisions/0004-observations-by-time.md says why there are
 * two: a clock that jumps must not delete, and data that gets old must not stay because nothing new comes.
 */
final readonly class Cutoff
{
    private const int DAY_SECONDS = 86_400;
    private const string NEWEST = 'SELECT max(observed_at) FROM observations WHERE observed_at <= ?';
    private const string RUN_BETWEEN = 'SELECT 1 FROM runs WHERE started_at BETWEEN ? AND ? ORDER BY id DESC LIMIT 1';

    public function __construct(private Database $database) {}

    /**
     * The later one of byData() and byClock(); the clock counts while it is steady.
     *
     * @param int $now UTC seconds
     * @param bool $trustsClock when an operator says that the clock is right
     * @return ?int UTC seconds; null when nothing is to be deleted
     */
    public function of(int $now, int $retentionHours, bool $trustsClock = false): ?int
    {
        $isSteady = $trustsClock || $this->isClockSteady($now);

        return max($this->byData($retentionHours), $isSteady ? self::byClock($now, $retentionHours) : null);
    }

    /**
     * Whether the record of runs says that the clock is right, so that one run under a wrong clock deletes nothing: a run
     * was recorded a day ago (one to two days). It was not right after a jump of more than two days, nor after an outage
     * that was as long: both are over when the clock has run on for a day.
     *
     * @param int $now UTC seconds
     */
    public function isClockSteady(int $now): bool
    {
        $found = $this->database->value(self::RUN_BETWEEN, [
            $now - 2 * self::DAY_SECONDS,
            $now - self::DAY_SECONDS,
        ]);

        return $found !== null;
    }

    /** @return int UTC seconds */
    public static function byClock(int $now, int $retentionHours): int
    {
        return $now - $retentionHours * 3600;
    }

    /**
     * Counts days of 24 hours that have observations, back from the newest observation: a jump of the clock by any
     * number of days adds one such day. Each step is a seek in the primary key.
     *
     * @return ?int UTC seconds; null when there are no more than those days
     */
    private function byData(int $retentionHours): ?int
    {
        $cutoff = null;
        $newest = $this->database->number(self::NEWEST, [PHP_INT_MAX]);
        for ($day = 0; 24 * $day < $retentionHours && $newest !== null; $day++) {
            $cutoff = $newest - self::DAY_SECONDS + 1;
            $newest = $this->database->number(self::NEWEST, [$cutoff - 1]);
        }

        return $newest === null ? null : $cutoff;
    }
}
