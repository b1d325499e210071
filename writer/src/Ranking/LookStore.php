<?php

declare(strict_types=1);

namespace TrendVault\Writer\Ranking;

use TrendVault\Writer\Database\Database;

/** Adds counted looks and views to the table looks. That none is added twice is the caller's duty, and so is the transaction. */
final class LookStore
{
    private const string FIND_VIDEO = 'SELECT published_at, first_seen_at FROM videos WHERE id = ?';
    private const string FIND = <<<'SQL'
    SELECT looks, aged_looks, views, counted_at FROM looks WHERE region = ? AND video_id = ? AND rank_group = ?
    SQL;
    private const string SAVE = <<<'SQL'
    INSERT INTO looks (region, video_id, rank_group, looks, aged_looks, views, counted_at) VALUES (?, ?, ?, ?, ?, ?, ?)
    ON CONFLICT DO UPDATE SET looks = excluded.looks, aged_looks = excluded.aged_looks, views = excluded.views,
      counted_at = excluded.counted_at
    SQL;

    /** @var array<string, ?int> UTC seconds that a video's age counts from, null for an unknown video; by "#" and id */
    private array $ageStartsAt = [];

    public function __construct(private readonly Database $database) {}

    /**
     * @param iterable<CountedLooks> $counts of any regions, videos, ranks and minutes, in any order
     * @return int how many were left out, because their video is not known (any more)
     */
    public function add(iterable $counts): int
    {
        $unknown = 0;
        $sums = $this->ageStartsAt = [];
        foreach ($counts as $count) {
            $ageStartsAt = $this->ageStartsAt["#$count->videoId"] ??= $this->ageStartsAt($count->videoId);
            if ($ageStartsAt === null) {
                $unknown++;
                continue;
            }
            $left = Appeal::left($count->countedAt - $ageStartsAt);
            $new = new Evidence($count->looks, $left * $count->looks, $count->views, $count->countedAt);
            $group = RankGroup::of($count->rank);
            $sum = $sums[$count->region]["#$count->videoId"][$group] ?? null;
            $sums[$count->region]["#$count->videoId"][$group] = $sum === null ? $new : $sum->plus($new);
        }
        foreach ($sums as $region => $videos) {
            foreach ($videos as $video => $groups) {
                foreach ($groups as $group => $evidence) {
                    $this->save($region, substr($video, 1), $group, $evidence);
                }
            }
        }

        return $unknown;
    }

    private function save(string $region, string $videoId, int $group, Evidence $new): void
    {
        $stored = $this->database->rows(self::FIND, [$region, $videoId, $group])[0] ?? null;
        $sum =
            $stored === null
                ? $new
                : new Evidence(
                    $stored['looks'],
                    $stored['aged_looks'],
                    $stored['views'],
                    $stored['counted_at'],
                )->plus($new);
        $this->database->run(self::SAVE, [
            $region,
            $videoId,
            $group,
            $sum->looks,
            min($sum->agedLooks, $sum->looks),
            $sum->views,
            $sum->countedAt,
        ]);
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
final readonly class CountedLooks
{
    public function __construct(
        /** The end of the minute, UTC seconds. */
        public int $countedAt,
        public string $region,
        public string $videoId,
        /** The rank in the list, from 1. */
        public int $rank,
        /** To how many visitors the rank was on screen. */
        public float $looks,
        /** How many opened the video. */
        public float $views,
    ) {}
}
