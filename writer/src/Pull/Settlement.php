<?php

declare(strict_types=1);

namespace TrendVault\Writer\Pull;

use Generator;
use TrendVault\Writer\Database\Database;
use TrendVault\Writer\Ranking\CountedImpressions;
use TrendVault\Writer\Ranking\ImpressionStore;
use TrendVault\Writer\Ranking\Window;

/**
 * Counts the impressions of a minute once, when every shard of its region has told it, or cannot tell it any more. The ceiling,
 * the ranking's sums and the mark of the minute change in one transaction.
 */
final readonly class Settlement
{
    /**
     * A list's messages are taken for at most so long after it was served: viewsAcceptedSeconds of contract/lists.ts,
     * with which a test compares it.
     */
    public const int ACCEPTED_MINUTES = 43;
    /** The edge adds served lists up to some seconds later than impressions. */
    private const int FLUSH_MINUTES = 1;
    private const int MINUTES_PER_COMMIT = 20;
    /** What is left after an outage is for the next runs. */
    private const float MOST_SECONDS = 20.0;

    private const string REGIONS = <<<'SQL'
    SELECT p.region, p.settled_until, min(ifnull(s.after, -1)) AS pulled_until,
      (SELECT max(after) FROM pull_shards WHERE region = p.region) AS told_until
    FROM pull_regions AS p LEFT JOIN pull_shards AS s ON s.region = p.region AND s.listed_at > ?
    GROUP BY p.region ORDER BY p.settled_until, p.region
    SQL;
    private const string MINUTES = <<<'SQL'
    SELECT DISTINCT minute FROM pulled_counts WHERE region = ? AND minute > ? AND minute <= ? ORDER BY minute LIMIT ?
    SQL;
    private const string LISTS = 'SELECT DISTINCT window, category FROM pulled_counts WHERE region = ? AND minute = ?';
    private const string TOLD = <<<'SQL'
    SELECT rank, video_id, impressions, clicks FROM pulled_counts WHERE region = ? AND minute = ? AND window = ? AND category = ?
    SQL;
    private const string SERVED = <<<'SQL'
    SELECT first_rank, last_rank, sum(lists) AS lists FROM pulled_lists
    WHERE region = ? AND window = ? AND category = ? AND minute BETWEEN ? AND ? GROUP BY first_rank, last_rank
    SQL;
    private const string SERVED_BY_MINUTE = <<<'SQL'
    SELECT minute, sum(lists) AS lists FROM pulled_lists
    WHERE region = ? AND minute > ? AND minute <= ? AND first_rank = 1 GROUP BY minute ORDER BY minute
    SQL;
    private const string USED = <<<'SQL'
    SELECT rank, sum(counted) AS counted FROM counted_ranks
    WHERE region = ? AND window = ? AND category = ? AND minute BETWEEN ? AND ? GROUP BY rank
    SQL;
    private const string ADD_USED = 'INSERT INTO counted_ranks (region, window, category, minute, rank, counted) VALUES (?, ?, ?, ?, ?, ?)';
    private const string SETTLE = <<<'SQL'
    UPDATE pull_regions SET settled_until = ?2, settled_impressions = settled_impressions + ?3, settled_clicks = settled_clicks + ?4,
      counted_impressions = counted_impressions + ?5, counted_clicks = counted_clicks + ?6 WHERE region = ?1
    SQL;

    public function __construct(private Database $database, private Ceiling $ceiling) {}

    /** @param int $now UTC seconds */
    public function settle(int $now): SettledCounts
    {
        [$total, $started] = [new SettledCounts(), hrtime(true)];
        /** @var list<array{region: string, settled_until: int, pulled_until: ?int, told_until: ?int}> $regions */
        $regions = $this->database->rows(self::REGIONS, [$now - ShardStore::KEPT_SECONDS]);
        foreach ($regions as $known) {
            ['region' => $region, 'settled_until' => $from, 'pulled_until' => $pulled] = $known;
            // No later than the edge's clock: what comes when ours, which was ahead, is right again would be late.
            $gone = min(intdiv($now - ShardStore::KEPT_SECONDS, 60), (int) $known['told_until']);
            $until = min(max((int) $pulled - self::FLUSH_MINUTES, $gone), intdiv($now, 60) - 1);
            while ($from < $until && (hrtime(true) - $started) / 1e9 < self::MOST_SECONDS) {
                $from = $this->database->transaction(
                    fn(): int => $this->settleSome($region, $from, $until, $total),
                );
            }
        }

        return $total;
    }

    /** @return int the minute up to which all is settled now */
    private function settleSome(string $region, int $from, int $until, SettledCounts $total): int
    {
        $minutes = $this->database->integers(self::MINUTES, [
            $region,
            $from,
            $until,
            self::MINUTES_PER_COMMIT,
        ]);
        $settled = count($minutes) < self::MINUTES_PER_COMMIT ? $until : $minutes[count($minutes) - 1];
        $some = new SettledCounts();
        foreach ($minutes as $minute) {
            $some->unknown += new ImpressionStore($this->database)->add(
                $this->count($region, $minute, $some),
            );
        }
        $this->countServed($region, $from, $settled);
        $this->database->run(self::SETTLE, [
            $region,
            $settled,
            $some->toldImpressions,
            $some->toldClicks,
            $some->impressions,
            $some->clicks,
        ]);
        $this->forget($region, $settled);
        $total->addAll($some);

        return $settled;
    }

    /** Before the first minute in which lists were served, nothing was counted. */
    private function countServed(string $region, int $from, int $settled): void
    {
        $rows = $this->database->rows(self::SERVED_BY_MINUTE, [$region, $from, $settled]);
        /** @var array<int, int> $lists */
        $lists = array_column($rows, 'lists', 'minute');
        $since = $from > 0 ? $from : (array_key_first($lists) ?? $settled + 1) - 1;
        $oldest = $settled - intdiv(ShardStore::KEPT_SECONDS, 60);
        new ImpressionStore($this->database)->addServed($region, $lists, max($since, $oldest), $settled);
    }

    /**
     * One list after the other: a minute of a large site does not fit into memory.
     *
     * @return Generator<CountedImpressions> of one minute, below the ceiling
     */
    private function count(string $region, int $minute, SettledCounts $sums): Generator
    {
        $sums->minutes++;
        /** @var list<array{window: string, category: string}> $lists */
        $lists = $this->database->rows(self::LISTS, [$region, $minute]);
        foreach ($lists as ['window' => $window, 'category' => $category]) {
            /** @var list<array{rank: int, video_id: string, impressions: int, clicks: int}> $rows */
            $rows = $this->database->rows(self::TOLD, [$region, $minute, $window, $category]);
            $shares = $this->shares([$region, $window, $category], $minute, self::toldByRank($rows));
            foreach (
                $rows
                as [
                    'rank' => $rank,
                    'video_id' => $video,
                    'impressions' => $toldImpressions,
                    'clicks' => $toldClicks,
                ]
            ) {
                [$impressions, $clicks] = [$shares[$rank] * $toldImpressions, $shares[$rank] * $toldClicks];
                $sums->add($toldImpressions, $toldClicks, $impressions, $clicks);
                if ($impressions + $clicks > 0) {
                    yield new CountedImpressions(
                        60 * ($minute + 1),
                        $region,
                        $video,
                        $rank,
                        $impressions,
                        $clicks,
                        Window::from($window),
                        $category,
                    );
                }
            }
        }
    }

    /**
     * @param list<array{rank: int, impressions: int, clicks: int, ...}> $rows of one list and minute
     * @return array<int, int> impressions or clicks, whichever are more, of all videos that had the rank in that minute
     */
    private static function toldByRank(array $rows): array
    {
        [$impressions, $clicks] = [[], []];
        foreach ($rows as ['rank' => $rank, 'impressions' => $rowImpressions, 'clicks' => $rowClicks]) {
            $impressions[$rank] = ($impressions[$rank] ?? 0) + $rowImpressions;
            $clicks[$rank] = ($clicks[$rank] ?? 0) + $rowClicks;
        }

        return array_combine(
            array_keys($impressions),
            array_map(
                static fn(int $ofImpressions, int $ofClicks): int => max($ofImpressions, $ofClicks),
                $impressions,
                $clicks,
            ),
        );
    }

    /**
     * What the ceiling leaves of one list and minute; later minutes have as much less.
     *
     * @param array{string, string, string} $list region, window, category
     * @param array<int, int> $told by rank
     * @return array<int, float> by rank
     */
    private function shares(array $list, int $minute, array $told): array
    {
        $first = $minute - self::ACCEPTED_MINUTES;
        /** @var list<array{first_rank: int, last_rank: int, lists: int}> $served */
        $served = $this->database->rows(self::SERVED, [...$list, $first, $minute + self::FLUSH_MINUTES]);
        /** @var list<array{rank: int, counted: int}> $used */
        $used = $this->database->rows(self::USED, [...$list, $first, $minute - 1]);
        $shares = $this->ceiling->shares($told, $served, array_column($used, 'counted', 'rank'));
        foreach ($told as $rank => $count) {
            $this->database->run(self::ADD_USED, [
                ...$list,
                $minute,
                $rank,
                (int) ceil($shares[$rank] * $count),
            ]);
        }

        return $shares;
    }

    /** Deletes what is counted, and what no later minute needs. */
    private function forget(string $region, int $settled): void
    {
        $this->database->run('DELETE FROM pulled_counts WHERE region = ? AND minute <= ?', [
            $region,
            $settled,
        ]);
        foreach (['pulled_lists', 'counted_ranks'] as $table) {
            $this->database->run("DELETE FROM $table WHERE region = ? AND minute < ?", [
                $region,
                $settled - self::ACCEPTED_MINUTES,
            ]);
        }
    }
}

/** What settling minutes did: sums. */
final class SettledCounts
{
    public int $minutes = 0;
    public int $toldImpressions = 0;
    public int $toldClicks = 0;
    /** What the ceiling left of them. */
    public float $impressions = 0.0;
    public float $clicks = 0.0;
    /** Counts of videos that the database does not have (any more). */
    public int $unknown = 0;

    public function add(int $toldImpressions, int $toldClicks, float $impressions, float $clicks): void
    {
        $this->toldImpressions += $toldImpressions;
        $this->toldClicks += $toldClicks;
        $this->impressions += $impressions;
        $this->clicks += $clicks;
    }

    public function addAll(self $other): void
    {
        $this->add($other->toldImpressions, $other->toldClicks, $other->impressions, $other->clicks);
        $this->minutes += $other->minutes;
        $this->unknown += $other->unknown;
    }

    /** The share of impressions and clicks that the ceiling took away, from 0 to 1. */
    public function cutShare(): float
    {
        $told = $this->toldImpressions + $this->toldClicks;

        return $told === 0 ? 0.0 : max(0.0, 1 - ($this->impressions + $this->clicks) / $told);
    }
}

/**
 * Bounds what a list may count: at most `factor` impressions, and at most as many clicks, for each time that the edge served a
 * page with that rank, over the time in which its messages are taken. What exceeds it scales the page down as a whole, so
 * that clicks per impression stay as they were told.
 */
final readonly class Ceiling
{
    /** @param float $factor 0 or more: other caches show lists that the edge does not see */
    public function __construct(private float $factor) {}

    /**
     * @param array<int, int> $told impressions or clicks of one minute of one list, whichever are more, by rank
     * @param list<array{first_rank: int, last_rank: int, lists: int}> $pages served in the time
     * @param array<int, int> $used what earlier minutes of that time have counted, by rank
     * @return array<int, float> the share that counts, from 0 to 1, by rank
     */
    public function shares(array $told, array $pages, array $used): array
    {
        $starts = self::starts($pages);
        [$ofPage, $pageOf] = [[], []];
        foreach ($told as $rank => $count) {
            $page = $pageOf[$rank] = count(
                array_filter($starts, static fn(int $start): bool => $start <= $rank),
            );
            $allowed = max(0.0, $this->factor * self::listsWith($rank, $pages) - ($used[$rank] ?? 0));
            $ofPage[$page] = min($ofPage[$page] ?? 1.0, self::share($allowed, $count));
        }

        return array_map(static fn(int $page): float => $ofPage[$page], $pageOf);
    }

    /**
     * Where other pages begin: ranks between two of them were served by the same ones.
     *
     * @param list<array{first_rank: int, last_rank: int, lists: int}> $pages
     * @return list<int>
     */
    private static function starts(array $pages): array
    {
        $starts = [];
        foreach ($pages as ['first_rank' => $first, 'last_rank' => $last]) {
            $starts[$first] = $first;
            $starts[$last + 1] = $last + 1;
        }

        return array_values($starts);
    }

    /** @param list<array{first_rank: int, last_rank: int, lists: int}> $pages */
    private static function listsWith(int $rank, array $pages): int
    {
        $lists = 0;
        foreach ($pages as ['first_rank' => $first, 'last_rank' => $last, 'lists' => $served]) {
            $lists += $rank >= $first && $rank <= $last ? $served : 0;
        }

        return $lists;
    }

    /** Never so large that rounding exceeds what is allowed. */
    private static function share(float $allowed, int $told): float
    {
        $share = $told <= $allowed ? 1.0 : $allowed / $told;
        while ($share < 1.0 && $share * $told > $allowed && $share > 0.0) {
            $share *= 1 - PHP_FLOAT_EPSILON;
        }

        return $share;
    }
}
