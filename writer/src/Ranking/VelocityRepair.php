<?php

declare(strict_types=1);

namespace TrendVault\Writer\Ranking;

use Closure;
use Generator;
use TrendVault\Writer\Database\Database;
use TrendVault\Writer\ExitCode;
use TrendVault\Writer\Time\Rfc3339;
use TrendVault\Writer\Time\SystemClock;
use TrendVault\Writer\WriterException;

/**
 * Puts the velocities in order after a wrong clock: takes out observations of the future, and rebuilds each one
 * that does not end with its history. One that does is left as it is: it knows what was pruned since.
 * What came late counts in its place: after a wrong clock, all that was right came late. All in one transaction.
 */
final class VelocityRepair
{
    private const string FUTURE = 'SELECT * FROM observations WHERE observed_at > ? ORDER BY observed_at, region, video_id';
    private const string BROKEN = <<<'SQL'
    WITH history AS (
      SELECT region, video_id, max(observed_at) AS newest FROM observations WHERE observed_at <= ?1 GROUP BY region, video_id
    )
    SELECT region, video_id FROM history JOIN videos ON videos.id = video_id LEFT JOIN velocity AS y USING (region, video_id)
      WHERE y.last_observed_at IS NOT newest
    UNION
    SELECT region, video_id FROM velocity WHERE last_observed_at > ?1
    SQL;
    /** Times of the writer's own clock, from which something is new, or gone. */
    private const array SINCE = [
        'videos' => ['first_seen_at', 'category_since'],
        'catalogue' => ['first_announced_at'],
        'velocity' => ['first_counted_at'],
        'erased' => ['erased_at'],
    ];
    private const string HISTORY = 'SELECT observed_at, region, video_id, views, previous_observed_at FROM observations WHERE observed_at <= ? ORDER BY observed_at';
    private const string LINK = 'UPDATE observations SET previous_observed_at = ? WHERE observed_at = ? AND region = ? AND video_id = ?';
    private const string KNOWN = <<<'SQL'
    SELECT v.published_at, y.first_observed_at, y.description_hash, y.first_counted_at FROM videos AS v
    LEFT JOIN velocity AS y ON y.video_id = v.id AND y.region = ?2 WHERE v.id = ?1
    SQL;
    private const string SAVE = <<<'SQL'
    INSERT OR REPLACE INTO velocity (video_id, region, first_observed_at, last_observed_at, observation_count, views, views_per_hour, rated_at, previous_views_per_hour, levels, description_hash, first_counted_at)
    VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
    SQL;

    /** @var array<string, ?Velocity> by region and video; null before the first observation */
    private array $velocities = [];
    /** @var array<string, array{published_at: ?int, first_observed_at: ?int, description_hash: ?int, first_counted_at: ?int}> by region and video */
    private array $known = [];

    public function __construct(private readonly Database $database) {}

    /**
     * @param int $now UTC seconds
     * @param Closure(iterable<array<string, int|string|null>>): void $keep is given the observations before they are
     *   deleted; when it throws, nothing changes
     * @return array{future_observations: int, rebuilt_velocities: int, deleted_velocities: int} what was done; a velocity is
     *   that of a video in a region
     * @throws WriterException when all observations are of the future
     */
    public function repair(int $now, Closure $keep): array
    {
        $latest = $now + SystemClock::TOLERANCE_SECONDS;
        $oldest = $this->database->number('SELECT min(observed_at) FROM observations');
        if ($oldest !== null && $oldest > $latest) {
            [$clock, $first] = [Rfc3339::format($now), Rfc3339::format($oldest)];
            throw new WriterException(
                "Cannot repair: the clock says $clock, but the first observation is from $first, so the clock is wrong. Correct it.",
                ExitCode::ClockBackwards,
            );
        }

        return $this->database->transaction(function () use ($latest, $keep): array {
            $removed = $this->takeOutFuture($latest, $keep);
            $this->findBroken($latest);
            $this->replay($latest);
            $rebuilt = $this->save();

            return [
                'future_observations' => $removed,
                'rebuilt_velocities' => $rebuilt,
                'deleted_velocities' => count($this->velocities) - $rebuilt,
            ];
        });
    }

    /** @param Closure(iterable<array<string, int|string|null>>): void $keep */
    private function takeOutFuture(int $latest, Closure $keep): int
    {
        $keep($this->future($latest));
        foreach (self::SINCE as $table => $columns) {
            foreach ($columns as $column) {
                $this->database->run("UPDATE $table SET $column = ?1 WHERE $column > ?1", [$latest]);
            }
        }
        // Or platforms would not be asked until that time.
        $this->database->run('UPDATE youtube_pages SET fetched_at = 0 WHERE fetched_at > ?', [$latest]);
        $this->database->run('UPDATE source_schedules SET asked_at = 0, retry_at = 0 WHERE asked_at > ?', [
            $latest,
        ]);
        $this->database->run('UPDATE youtube_regions SET asked_at = 0 WHERE asked_at > ?', [$latest]);

        return $this->database->run('DELETE FROM observations WHERE observed_at > ?', [$latest]);
    }

    /** @return Generator<array<string, int|string|null>> rows of observations */
    private function future(int $latest): Generator
    {
        foreach ($this->database->each(self::FUTURE, [$latest]) as $row) {
            /** @var array<string, int|string|null> $row */
            yield $row;
        }
    }

    private function findBroken(int $latest): void
    {
        $this->velocities = $this->known = [];
        foreach ($this->database->rows(self::BROKEN, [$latest]) as $row) {
            /** @var array{region: string, video_id: string} $row */
            ['region' => $region, 'video_id' => $id] = $row;
            $this->velocities["$region $id"] = null;
            /** @var array{published_at: ?int, first_observed_at: ?int, description_hash: ?int, first_counted_at: ?int} $known */
            $known = $this->database->rows(self::KNOWN, [$id, $region])[0];
            $this->known["$region $id"] = $known;
        }
    }

    /** One pass over the history: it is ordered by time, so that looking one video up would read all of it. */
    private function replay(int $latest): void
    {
        if ($this->velocities === []) {
            return;
        }
        $links = [];
        foreach ($this->database->each(self::HISTORY, [$latest]) as $row) {
            /** @var array{observed_at: int, region: string, video_id: string, views: int, previous_observed_at: ?int} $row */
            [
                'observed_at' => $observedAt,
                'region' => $region,
                'video_id' => $videoId,
                'views' => $views,
            ] = $row;
            $key = "$region $videoId";
            if (array_key_exists($key, $this->velocities)) {
                $before = $this->velocities[$key];
                $this->velocities[$key] = $this->follow($key, $observedAt, $views);
                if ($row['previous_observed_at'] !== $before?->lastObservedAt) {
                    $links[] = [$before?->lastObservedAt, $observedAt, $region, $videoId];
                }
            }
        }
        array_walk($links, fn(array $values): int => $this->database->run(self::LINK, $values));
    }

    private function follow(string $key, int $observedAt, int $views): Velocity
    {
        $before = $this->velocities[$key];

        return $before === null
            ? Velocity::first($observedAt, $views, $this->known[$key]['published_at'])
            : $before->next($observedAt, $views);
    }

    /** @return int how many velocities were rebuilt; the others have no history left and are deleted */
    private function save(): int
    {
        foreach ($this->velocities as $key => $velocity) {
            [$region, $videoId] = explode(' ', $key, 2);
            [
                'first_observed_at' => $first,
                'description_hash' => $hash,
                'first_counted_at' => $counted,
            ] = $this->known[$key];
            if ($velocity === null) {
                $this->database->run('DELETE FROM velocity WHERE video_id = ? AND region = ?', [
                    $videoId,
                    $region,
                ]);
                continue;
            }
            $this->database->run(self::SAVE, [
                $videoId,
                $region,
                min($first ?? PHP_INT_MAX, $velocity->firstObservedAt), // Its first observation may be pruned.
                $velocity->lastObservedAt,
                $velocity->observationCount,
                $velocity->views,
                $velocity->viewsPerHour,
                $velocity->ratedAt,
                $velocity->previousViewsPerHour,
                $velocity->levels,
                $hash ?? 0, // The next line describes the video anew.
                $counted ?? 0,
            ]);
        }

        return count(array_filter($this->velocities));
    }
}
