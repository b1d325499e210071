<?php

declare(strict_types=1);

namespace TrendVault\Writer\Ranking;

use TrendVault\Writer\Database\Database;

/**
 * Keeps counted impressions and clicks in the tables impressions and rank_traffic. That none is added twice is the
 * caller's duty, and so is the transaction.
 */
final class ImpressionStore
{
    private const string FIND_VIDEO = 'SELECT published_at, first_seen_at FROM videos WHERE id = ?';
    private const string FIND = <<<'SQL'
    SELECT rank_group, age_group, impressions, clicks, age_hours, counted_at FROM impressions
    WHERE region = ? AND video_id = ? AND rank_group = ? AND age_group = ?
    SQL;
    private const string FIND_ALL = <<<'SQL'
    SELECT video_id, rank_group, age_group, impressions, clicks, age_hours, counted_at FROM impressions
    WHERE region = ? ORDER BY video_id, rank_group, age_group
    SQL;
    private const string SAVE = <<<'SQL'
    INSERT INTO impressions (region, video_id, rank_group, age_group, impressions, clicks, age_hours, counted_at)
    VALUES (?, ?, ?, ?, ?, ?, ?, ?)
    ON CONFLICT DO UPDATE SET impressions = excluded.impressions, clicks = excluded.clicks,
      age_hours = excluded.age_hours, counted_at = excluded.counted_at
    SQL;
    private const string FIND_REGIONS = 'SELECT code FROM regions WHERE EXISTS (SELECT 1 FROM impressions WHERE region = code) ORDER BY code';
    private const string FIND_TRAFFIC = 'SELECT rank_group, impressions, counted_since, counted_at FROM rank_traffic WHERE region = ?';
    private const string SAVE_TRAFFIC = <<<'SQL'
    INSERT INTO rank_traffic (region, rank_group, impressions, counted_since, counted_at) VALUES (?, ?, ?, ?, ?)
    ON CONFLICT DO UPDATE SET impressions = excluded.impressions, counted_since = excluded.counted_since,
      counted_at = excluded.counted_at
    SQL;

    /** @var array<string, ?int> UTC seconds that a video's age counts from, null for an unknown video; by "#" and id */
    private array $ageStartsAt = [];

    public function __construct(private readonly Database $database) {}

    /**
     * @param iterable<CountedImpressions> $counts of any regions, videos, ranks and minutes, in any order
     * @return int how many were left out, because their video is not known (any more)
     */
    public function add(iterable $counts): int
    {
        $unknown = 0;
        $sums = $traffic = $this->ageStartsAt = [];
        foreach ($counts as $count) {
            $ageStartsAt = $this->ageStartsAt["#$count->videoId"] ??= $this->ageStartsAt($count->videoId);
            if ($ageStartsAt === null) {
                $unknown++;
                continue;
            }
            $new = $count->at($ageStartsAt);
            $sum = &$sums[$count->region]["#$count->videoId"][$new->rankGroup][$new->ageGroup];
            $sum = $sum === null ? $new : $sum->plus($new);
            unset($sum);
            $traffic[$count->region] = $count->addedTo($traffic[$count->region] ?? []);
        }
        foreach ($sums as $region => $videos) {
            foreach ($videos as $video => $groups) {
                foreach (array_merge(...$groups) as $some) {
                    $this->save($region, substr($video, 1), $some);
                }
            }
            $this->saveTraffic($region, $traffic[$region]);
        }

        return $unknown;
    }

    /** @return list<string> those with counts */
    public function regions(): array
    {
        $regions = $this->database->rows(self::FIND_REGIONS);

        return array_column($regions, 'code');
    }

    /** @return array<string, list<ClickCounts>> of a region's videos, by "#" and id */
    public function counts(string $region): array
    {
        $counts = [];
        foreach ($this->database->rows(self::FIND_ALL, [$region]) as $row) {
            $counts["#{$row['video_id']}"][] = self::read($row);
        }

        return $counts;
    }

    /** @param int $now UTC seconds */
    public function traffic(string $region, int $now): Traffic
    {
        return new Traffic($this->trafficSums($region), $now);
    }

    private function save(string $region, string $videoId, ClickCounts $new): void
    {
        $key = [$region, $videoId, $new->rankGroup, $new->ageGroup];
        $stored = $this->database->rows(self::FIND, $key)[0] ?? null;
        $sum = $stored === null ? $new : self::read($stored)->plus($new);
        $this->database->run(self::SAVE, [
            ...$key,
            $sum->impressions,
            $sum->clicks,
            $sum->ageHours,
            $sum->countedAt,
        ]);
    }

    /** @param array<int, array{float, int, int}> $new see Traffic */
    private function saveTraffic(string $region, array $new): void
    {
        $sums = $this->trafficSums($region);
        foreach ($new as $group => [$impressions, $since, $until]) {
            $sums = Traffic::plus($sums, $group, $impressions, $since, $until);
            $this->database->run(self::SAVE_TRAFFIC, [$region, $group, ...$sums[$group]]);
        }
    }

    /** @return array<int, array{float, int, int}> see Traffic */
    private function trafficSums(string $region): array
    {
        $sums = [];
        foreach ($this->database->rows(self::FIND_TRAFFIC, [$region]) as $row) {
            $sums[$row['rank_group']] = [$row['impressions'], $row['counted_since'], $row['counted_at']];
        }

        return $sums;
    }

    /** @param array<string, mixed> $row */
    private static function read(array $row): ClickCounts
    {
        return new ClickCounts(
            $row['rank_group'],
            $row['age_group'],
            $row['impressions'],
            $row['clicks'],
            $row['age_hours'],
            $row['counted_at'],
        );
    }

    private function ageStartsAt(string $videoId): ?int
    {
        $video = $this->database->rows(self::FIND_VIDEO, [$videoId])[0] ?? null;

        return $video === null
            ? null
            : Forecast::ageStartsAt($video['first_seen_at'], $video['published_at']);
    }
}

/** What visitors did in one minute with a video at a rank of a list. Increments, already scaled by the ceiling. */
final readonly class CountedImpressions
{
    public function __construct(
        /** The end of the minute, UTC seconds. */
        public int $countedAt,
        public string $region,
        public string $videoId,
        /** The rank in the list, from 1. */
        public int $rank,
        /** To how many visitors the rank was on screen. */
        public float $impressions,
        /** How many opened the video. */
        public float $clicks,
    ) {}

    /** @param int $ageStartsAt of the video, UTC seconds */
    public function at(int $ageStartsAt): ClickCounts
    {
        $age = max(0.0, ($this->countedAt - $ageStartsAt) / 3600);

        return new ClickCounts(
            RankGroup::of($this->rank),
            ClickCounts::ageGroup($age),
            $this->impressions,
            $this->clicks,
            $age,
            $this->countedAt,
        );
    }

    /**
     * @param array<int, array{float, int, int}> $sums see Traffic
     * @return array<int, array{float, int, int}>
     */
    public function addedTo(array $sums): array
    {
        return Traffic::plus(
            $sums,
            RankGroup::of($this->rank),
            $this->impressions,
            $this->countedAt - 60,
            $this->countedAt,
        );
    }
}
