<?php

declare(strict_types=1);

namespace TrendVault\Writer\Pull;

use TrendVault\Writer\Database\Database;
use TrendVault\Writer\Database\Erasures;
use TrendVault\Writer\Database\RegionTable;
use TrendVault\Writer\Sources\Edge\ClosedMinutes;

/** The shards with their cursors. An answer and the cursor behind it are stored in one transaction, or neither. */
final class ShardStore
{
    /** A shard that the edge does not name any more may still hold minutes: it keeps them for 48 hours, and deletes within one. */
    public const int KEPT_SECONDS = 49 * 3600;

    private const string LIST = <<<'SQL'
    INSERT INTO pull_shards (shard, region, listed_at) SELECT ?1, code, ?2 FROM regions WHERE code = substr(?1, 1, 2)
    ON CONFLICT DO UPDATE SET listed_at = max(listed_at, excluded.listed_at)
    SQL;
    private const string ASK = 'SELECT shard, after FROM pull_shards WHERE listed_at > ? ORDER BY asked_at, shard';
    private const string MOVE = <<<'SQL'
    UPDATE pull_shards SET after = ?3, lost_minutes = lost_minutes + ?4, lost_at = iif(?4 > 0, ?5, lost_at)
    WHERE shard = ?1 AND after IS ?2
    SQL;
    private const string ADD_COUNTS = <<<'SQL'
    INSERT INTO pulled_counts (region, minute, window, category, rank, video_id, impressions, clicks) VALUES (?, ?, ?, ?, ?, ?, ?, ?)
    ON CONFLICT DO UPDATE SET impressions = impressions + excluded.impressions, clicks = clicks + excluded.clicks
    SQL;
    private const string ADD_LISTS = <<<'SQL'
    INSERT INTO pulled_lists (region, minute, window, category, first_rank, last_rank, lists) VALUES (?, ?, ?, ?, ?, ?, ?)
    ON CONFLICT DO UPDATE SET lists = lists + excluded.lists
    SQL;
    private const string ADD_REGION = <<<'SQL'
    INSERT INTO pull_regions (region, lists, impressions, clicks, late_impressions, late_clicks) VALUES (?, ?, ?, ?, ?, ?)
    ON CONFLICT DO UPDATE SET lists = lists + excluded.lists, impressions = impressions + excluded.impressions,
      clicks = clicks + excluded.clicks, late_impressions = late_impressions + excluded.late_impressions,
      late_clicks = late_clicks + excluded.late_clicks
    SQL;

    private const string FOR_KIDS = 'SELECT id FROM videos WHERE made_for_kids = 1';
    /** @var ?array<string, int> those, as keys: read once for all shards of a run, which stores no line meanwhile */
    private ?array $forKids = null;

    /** @param ?RegionTable $regions whose shards are asked: another writer asks the others; null for all */
    public function __construct(
        private readonly Database $database,
        private readonly ?RegionTable $regions = null,
    ) {}

    /**
     * Notes which shards there are; one of a region that is not ours is left out.
     *
     * @param list<string> $shards
     * @param int $now UTC seconds
     */
    public function list(array $shards, int $now): void
    {
        $own = array_filter($shards, $this->isOwn(...));
        $this->database->transaction(function () use ($own, $now): void {
            foreach ($own as $shard) {
                $this->database->run(self::LIST, [$shard, $now]);
            }
        });
    }

    /**
     * The shards to ask, those first that were not asked for longest.
     *
     * @param int $now UTC seconds
     * @return array<string, ?int> the cursor of each
     */
    public function toAsk(int $now): array
    {
        /** @var list<array{shard: string, after: ?int}> $known */
        $known = $this->database->rows(self::ASK, [$now - self::KEPT_SECONDS]);

        return array_filter(array_column($known, 'after', 'shard'), $this->isOwn(...), ARRAY_FILTER_USE_KEY);
    }

    /** Before a shard is asked, so that one that does not answer does not keep the others waiting in the next run. */
    public function ask(string $shard, int $now): void
    {
        $this->database->run('UPDATE pull_shards SET asked_at = ? WHERE shard = ?', [$now, $shard]);
    }

    /**
     * Adds an answer to what is there, and moves the cursor. An answer to another cursor than the stored one is left out
     * whole: it was stored before.
     *
     * @param int $now UTC seconds
     */
    public function add(ClosedMinutes $minutes, int $now): PulledCounts
    {
        return $this->database->transaction(function () use ($minutes, $now): PulledCounts {
            $lost = $minutes->lostUntil === null ? 0 : max(0, $minutes->lostUntil - (int) $minutes->after);
            $lost = $minutes->after === null ? 0 : $lost;
            $moved = $this->database->run(self::MOVE, [
                $minutes->shard,
                $minutes->after,
                $minutes->until,
                $lost,
                $now,
            ]);
            $counts = new PulledCounts();
            if ($moved === 1) {
                $counts->lostMinutes = $lost;
                $this->addLists($minutes, $counts);
                $this->addImpressions($minutes, $counts);
                $this->database->run(self::ADD_REGION, [
                    $minutes->region(),
                    $counts->lists,
                    $counts->impressions,
                    $counts->clicks,
                    $counts->lateImpressions,
                    $counts->lateClicks,
                ]);
            }

            return $counts;
        });
    }

    private function isOwn(string $shard): bool
    {
        return $this->regions === null || $this->regions->has(substr($shard, 0, 2));
    }

    private function addLists(ClosedMinutes $minutes, PulledCounts $counts): void
    {
        foreach (
            $minutes->served
            as ['minute' => $minute, 'window' => $window, 'category' => $category, 'pages' => $pages]
        ) {
            foreach ($pages as [$offset, $count, $lists]) {
                $counts->lists += $lists;
                $this->database->run(self::ADD_LISTS, [
                    $minutes->region(),
                    $minute,
                    $window,
                    $category,
                    $offset + 1,
                    $offset + $count,
                    $lists,
                ]);
            }
        }
    }

    private function addImpressions(ClosedMinutes $minutes, PulledCounts $counts): void
    {
        $settledUntil = (int) $this->database->value(
            'SELECT settled_until FROM pull_regions WHERE region = ?',
            [$minutes->region()],
        );
        $erasures = new Erasures($this->database);
        // An edge before schema 41 does not leave them out.
        $this->forKids ??= array_flip($this->database->texts(self::FOR_KIDS));
        foreach (
            $minutes->impressions
            as ['minute' => $minute, 'window' => $window, 'category' => $category, 'ranks' => $ranks]
        ) {
            $isLate = $minute <= $settledUntil;
            foreach ($ranks as [$rank, $video, $impressions, $clicks]) {
                if (isset($this->forKids[$video]) || $erasures->hasVideo($video)) {
                    continue;
                }
                $counts->add($impressions, $clicks, $isLate);
                if (!$isLate) {
                    $this->database->run(self::ADD_COUNTS, [
                        $minutes->region(),
                        $minute,
                        $window,
                        $category,
                        $rank,
                        $video,
                        $impressions,
                        $clicks,
                    ]);
                }
            }
        }
    }
}

/** What was pulled: sums over answers. */
final class PulledCounts
{
    public int $lists = 0;
    public int $impressions = 0;
    public int $clicks = 0;
    /** The part of them that came when their minute was settled without it. */
    public int $lateImpressions = 0;
    public int $lateClicks = 0;
    /** Minutes that the edge had deleted. */
    public int $lostMinutes = 0;

    public function add(int $impressions, int $clicks, bool $isLate): void
    {
        $this->impressions += $impressions;
        $this->clicks += $clicks;
        $this->lateImpressions += $isLate ? $impressions : 0;
        $this->lateClicks += $isLate ? $clicks : 0;
    }

    public function addAll(self $other): void
    {
        $this->lists += $other->lists;
        $this->impressions += $other->impressions;
        $this->clicks += $other->clicks;
        $this->lateImpressions += $other->lateImpressions;
        $this->lateClicks += $other->lateClicks;
        $this->lostMinutes += $other->lostMinutes;
    }
}
