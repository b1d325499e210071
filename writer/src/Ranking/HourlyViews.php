<?php

declare(strict_types=1);

namespace TrendVault\Writer\Ranking;

use TrendVault\Writer\Database\Database;

/**
 * Keeps how often each listed video had been viewed at the full hours of the last day. Observations are ordered by time:
 * a video's own are found only by following their links backwards, so that a run follows a limited number of them, those
 * of the best ranks first, and the next runs the rest. The caller holds the transaction.
 */
final class HourlyViews
{
    private const int HOUR_SECONDS = 3600;
    /** A tenth of a second. */
    private const int STEPS_PER_RUN = 40_000;
    /** What finding and saving a video takes as long as. */
    private const int STEPS_TO_SAVE = 15;
    /** A day at one a minute, and a little more. */
    private const int STEPS_PER_VIDEO = 1700;
    /** Ranks that come before others: the first two pages of all categories. */
    private const int FIRST_RANKS = 50;

    private const string KNOWN = <<<'SQL'
    SELECT hour, region, group_concat(video_id, ' ') AS ids FROM hourly_views GROUP BY hour, region
    SQL;
    private const string FIND = 'SELECT hour, views FROM hourly_views WHERE region = ? AND video_id = ?';
    private const string SAVE = 'INSERT OR REPLACE INTO hourly_views (region, video_id, hour, views) VALUES (?, ?, ?, ?)';
    private const string FORGET = 'DELETE FROM hourly_views WHERE hour < ?';
    /**
     * The observations of a video in a region on both sides of each full hour, newest first. ?1 video id, ?2 region, ?3 the
     * chain is followed back to the first observation at or before this time, in UTC seconds, ?4 but over at most so many
     * observations; `steps` says how many it were.
     */
    private const string OBSERVATIONS = <<<'SQL'
    WITH RECURSIVE chain (observed_at, views, previous_observed_at, next_observed_at, step) AS (
      SELECT o.observed_at, o.views, o.previous_observed_at, NULL, 1
      FROM velocity AS v
      JOIN observations AS o ON o.observed_at = v.last_observed_at AND o.region = v.region AND o.video_id = v.video_id
      WHERE v.video_id = ?1 AND v.region = ?2
      UNION ALL
      SELECT o.observed_at, o.views, o.previous_observed_at, chain.observed_at, step + 1
      FROM chain
      JOIN observations AS o
        ON o.observed_at = chain.previous_observed_at AND o.region = ?2 AND o.video_id = ?1
      WHERE chain.observed_at > ?3 AND step < ?4
    )
    SELECT observed_at, views, step AS steps FROM chain
    WHERE observed_at / 3600 > ifnull(previous_observed_at, 0) / 3600 OR next_observed_at / 3600 > observed_at / 3600
    ORDER BY observed_at DESC
    SQL;

    /** @var array<string, array<int>> the hour of the newest observation, by region and video */
    private array $first = [];
    /** @var array<string, array<int>> of the other ranks */
    private array $others = [];

    public function __construct(private readonly Database $database) {}

    /** Notes the videos of a list. */
    public function add(RankedList $list): void
    {
        foreach ($list->candidates as $index => $candidate) {
            if ($candidate->velocity->observationCount === 0) {
                continue; // only the catalogue names it
            }
            $hour = intdiv($candidate->velocity->lastObservedAt, self::HOUR_SECONDS);
            if ($index < self::FIRST_RANKS && $list->category === '') {
                $this->first[$list->region][$candidate->videoId] = $hour;
            } else {
                $this->others[$list->region][$candidate->videoId] = $hour;
            }
        }
    }

    /**
     * Adds the hours that are missing, as far as the limit goes, and deletes what was not listed for a day.
     *
     * @param int $now UTC seconds
     */
    public function update(int $now): void
    {
        $this->database->run(self::FORGET, [intdiv($now, self::HOUR_SECONDS) - HourlyCounts::HOURS]);
        $known = $this->known();
        $steps = self::STEPS_PER_RUN;
        foreach ([$this->first, $this->others] as $regions) {
            foreach ($regions as $region => $hours) {
                foreach ($hours as $videoId => $hour) {
                    if ($steps <= 0) {
                        return;
                    }
                    if ($hour > ($known[$region][$videoId] ?? 0)) {
                        $steps -= $this->extend($region, (string) $videoId, $hour);
                    }
                }
            }
        }
    }

    /** @return array<string, array<int>> the last hour that is known, by region and video */
    private function known(): array
    {
        $known = [];
        foreach ($this->database->rows(self::KNOWN) as $row) {
            /** @var array{region: string, hour: int, ids: string} $row */
            ['region' => $region, 'hour' => $hour, 'ids' => $ids] = $row;
            $known[$region] = array_fill_keys(explode(' ', $ids), $hour) + ($known[$region] ?? []);
        }

        return $known;
    }

    /** @return int how many steps it took */
    private function extend(string $region, string $videoId, int $hour): int
    {
        /** @var ?array{hour: int, views: string} $row */
        $row = $this->database->row(self::FIND, [$region, $videoId]);
        /** @var list<?int> $views */
        $views = $row === null ? [] : json_decode($row['views'], true, flags: JSON_THROW_ON_ERROR);
        $counts = new HourlyCounts($row['hour'] ?? $hour - HourlyCounts::HOURS, $views);
        /** @var list<array{observed_at: int, views: int, steps: int}> $observations */
        $observations = $this->database->rows(self::OBSERVATIONS, [
            $videoId,
            $region,
            max($counts->hour, $hour - HourlyCounts::HOURS) * self::HOUR_SECONDS,
            self::STEPS_PER_VIDEO,
        ]);
        $counts = $counts->until($hour, $observations);
        $this->database->run(self::SAVE, [
            $region,
            $videoId,
            $counts->hour,
            json_encode($counts->views, JSON_THROW_ON_ERROR),
        ]);

        $last = array_key_last($observations);

        return self::STEPS_TO_SAVE + ($last === null ? 0 : $observations[$last]['steps']);
    }
}

/**
 * How often a video had been viewed at full hours, in hours since 1970: between the observations on both sides of an
 * hour, in proportion to time.
 */
final readonly class HourlyCounts
{
    /** A sparkline of 24 hours needs 25; a generation that is read a little later one or two more. */
    public const int HOURS = 27;

    private const int HOUR_SECONDS = 3600;
    /** Between observations that are further apart nobody knows when the views came. */
    private const int MAX_GAP_SECONDS = 3 * self::HOUR_SECONDS;

    /**
     * @param int $hour the last one
     * @param list<?int> $views up to that hour, oldest first; null where nobody counted
     */
    public function __construct(public int $hour, public array $views) {}

    /**
     * These counts and those of the hours that have come since.
     *
     * @param int $hour the last one, not before this one
     * @param list<array{observed_at: int, views: int, ...}> $observations newest first, with those on both sides of each hour
     */
    public function until(int $hour, array $observations): self
    {
        $counts = self::between($observations);
        $views = $this->views;
        for ($next = $this->hour + 1; $next <= $hour; $next++) {
            $views[] = $counts[$next] ?? null;
        }

        return new self($hour, array_slice($views, -self::HOURS));
    }

    /**
     * @param list<array{observed_at: int, views: int, ...}> $observations newest first
     * @return array<int, int> by hour
     */
    private static function between(array $observations): array
    {
        $counts = [];
        foreach ($observations as $index => ['observed_at' => $at, 'views' => $views]) {
            if ($at % self::HOUR_SECONDS === 0) {
                $counts[intdiv($at, self::HOUR_SECONDS)] = $views;
            }
            ['observed_at' => $from, 'views' => $less] = $observations[$index + 1] ?? $observations[$index];
            $hours = $at - $from > self::MAX_GAP_SECONDS ? 0 : intdiv($at, self::HOUR_SECONDS);
            for ($hour = intdiv($from, self::HOUR_SECONDS) + 1; $hour <= $hours; $hour++) {
                // Multiplied first: a half that a division has rounded would fall to either side.
                $gain = ($views - $less) * ($hour * self::HOUR_SECONDS - $from);
                $counts[$hour] = $less + (int) round($gain / ($at - $from));
            }
        }

        return $counts;
    }
}
