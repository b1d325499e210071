<?php

declare(strict_types=1);

namespace TrendVault\Writer\Ranking;

use TrendVault\Writer\Database\Database;

/**
 * Keeps counted impressions and clicks in the tables impressions, rank_traffic, list_impressions and served_hours. That none is added twice is the
 * caller's duty, and so is the transaction.
 */
final class ImpressionStore
{
    private const string FIND_VIDEO = 'SELECT published_at, first_seen_at FROM videos WHERE id = ? AND made_for_kids IS NULL';
    private const string FIND = <<<'SQL'
    SELECT rank_group, age_group, impressions, clicks, age_hours, counted_at, recent_impressions, recent_clicks FROM impressions
    WHERE region = ? AND video_id = ? AND rank_group = ? AND age_group = ?
    SQL;
    private const string FIND_ALL = <<<'SQL'
    SELECT video_id, rank_group, age_group, impressions, clicks, age_hours, counted_at, recent_impressions, recent_clicks FROM impressions
    WHERE region = ? ORDER BY video_id, rank_group, age_group
    SQL;
    private const string SAVE = <<<'SQL'
    INSERT OR REPLACE INTO impressions (region, video_id, rank_group, age_group, impressions, clicks, age_hours, counted_at, recent_impressions, recent_clicks)
    VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
    SQL;
    private const string FIND_REGIONS = 'SELECT code FROM regions WHERE EXISTS (SELECT 1 FROM impressions WHERE region = code) ORDER BY code';
    private const string FIND_TRAFFIC = 'SELECT rank_group, impressions, counted_since, counted_at FROM rank_traffic WHERE region = ?';
    private const string SAVE_TRAFFIC = <<<'SQL'
    INSERT INTO rank_traffic (region, rank_group, impressions, counted_since, counted_at) VALUES (?, ?, ?, ?, ?)
    ON CONFLICT DO UPDATE SET impressions = excluded.impressions, counted_since = excluded.counted_since,
      counted_at = excluded.counted_at
    SQL;

    private const string FIND_LISTS = 'SELECT window, category, rank_group, impressions, counted_at FROM list_impressions WHERE region = ?';
    private const string SAVE_LIST = 'INSERT OR REPLACE INTO list_impressions (region, window, category, rank_group, impressions, counted_at) VALUES (?, ?, ?, ?, ?, ?)';
    private const string FIND_HOURS = 'SELECT hour, lists, minutes, counted_at FROM served_hours WHERE region = ?';
    private const string SAVE_HOUR = 'INSERT OR REPLACE INTO served_hours (region, hour, lists, minutes, counted_at) VALUES (?, ?, ?, ?, ?)';

    private const string FIND_PLACED = 'SELECT window, category, rank, video_id, first_at, last_at, model_rate FROM placed_ranks WHERE region = ?';
    private const string COUNT_PLACED = <<<'SQL'
    UPDATE placed_ranks SET impressions = impressions + ?, clicks = clicks + ?, model_clicks = model_clicks + ?
    WHERE region = ? AND window = ? AND category = ? AND rank = ? AND video_id = ?
    SQL;
    /** Messages of a list are taken for 43 minutes after it was served, and caches may show it some minutes longer. */
    private const int PLACED_SECONDS = 3600;

    /** @var array<string, array<string, array{first_at: int, last_at: int, model_rate: ?float, ...}>> by region, see placedIn() */
    private array $placed = [];
    /** @var array<string, ?int> UTC seconds that a video's age counts from, null for one that is not counted; by "#" and id */
    private array $ageStartsAt = [];

    public function __construct(private readonly Database $database) {}

    /**
     * @param iterable<CountedImpressions> $counts of any regions, videos, ranks and minutes, in any order
     * @return int how many were left out, because their video is made for kids, or not known (any more)
     */
    public function add(iterable $counts): int
    {
        $unknown = 0;
        $this->ageStartsAt = $this->placed = [];
        /** @var array<string, array<string, array<int, array<int, ClickCounts>>>> $sums by region, "#" and id, groups of ranks and ages */
        $sums = [];
        /** @var array<string, array<int, array{float, int, int}>> $traffic */
        $traffic = [];
        /** @var array<string, non-empty-list<CountedImpressions>> $lists */
        $lists = [];
        foreach ($counts as $count) {
            $ageStartsAt = $this->ageStartsAt["#$count->videoId"] ??= $this->ageStartsAt($count->videoId);
            if ($ageStartsAt === null) {
                $unknown++;
                continue;
            }
            // What a rank gets says how visitors look at lists; what a placed video gets there says nothing of the video.
            $traffic[$count->region] = $count->addedTo($traffic[$count->region] ?? []);
            $lists[$count->region][] = $count;
            if ($this->countPlaced($count)) {
                continue;
            }
            $new = $count->at($ageStartsAt);
            [$region, $video, $rank, $age] = [
                $count->region,
                "#$count->videoId",
                $new->rankGroup,
                $new->ageGroup,
            ];
            $before = $sums[$region][$video][$rank][$age] ?? null;
            $sums[$region][$video][$rank][$age] = $before === null ? $new : $before->plus($new);
        }
        foreach ($sums as $region => $videos) {
            foreach ($videos as $video => $groups) {
                foreach ($groups as $ages) {
                    foreach ($ages as $some) {
                        $this->save($region, substr($video, 1), $some);
                    }
                }
            }
        }
        foreach (array_keys($lists) as $region) {
            $this->saveTraffic($region, $traffic[$region]);
            $this->saveAudience($region, $this->audience($region)->withImpressions($lists[$region]));
        }

        return $unknown;
    }

    /** @return bool false where the video was not placed at that rank when the list was shown */
    private function countPlaced(CountedImpressions $count): bool
    {
        $this->placed[$count->region] ??= $this->placedIn($count->region);
        $list = "{$count->window->value} $count->category";
        $row = $this->placed[$count->region]["$list#$count->rank#$count->videoId"] ?? null;
        if (
            $row === null ||
            $row['first_at'] > $count->countedAt ||
            $row['last_at'] < $count->countedAt - self::PLACED_SECONDS
        ) {
            return false;
        }
        $this->database->run(self::COUNT_PLACED, [
            $count->impressions,
            $count->clicks,
            ($row['model_rate'] ?? 0.0) * $count->impressions,
            $count->region,
            $count->window->value,
            $count->category,
            $count->rank,
            $count->videoId,
        ]);

        return true;
    }

    /** @return array<string, array{first_at: int, last_at: int, model_rate: ?float, ...}> where videos were placed, by list, rank and id */
    private function placedIn(string $region): array
    {
        $placed = [];
        foreach ($this->database->rows(self::FIND_PLACED, [$region]) as $row) {
            /** @var array{window: string, category: string, rank: int, video_id: string, first_at: int, last_at: int, model_rate: ?float} $row */
            $placed["{$row['window']} {$row['category']}#{$row['rank']}#{$row['video_id']}"] = $row;
        }

        return $placed;
    }

    /** @return list<string> those with counts */
    public function regions(): array
    {
        return $this->database->texts(self::FIND_REGIONS);
    }

    /** @return array<string, list<ClickCounts>> of a region's videos, by "#" and id */
    public function counts(string $region): array
    {
        $counts = [];
        foreach ($this->database->rows(self::FIND_ALL, [$region]) as $row) {
            /** @var string $id */
            $id = $row['video_id'];
            $counts["#$id"][] = self::read($row);
        }

        return $counts;
    }

    /** @param int $now UTC seconds */
    public function traffic(string $region, int $now): Traffic
    {
        return new Traffic($this->trafficSums($region), $now);
    }

    /**
     * Adds minutes of a region in which all was counted: without a list, too.
     *
     * @param array<int, int> $lists how many the edge served, by minute (Unix time / 60)
     * @param int $after the first minute is the next one
     */
    public function addServed(string $region, array $lists, int $after, int $until): void
    {
        $audience = $this->audience($region);
        for ($minute = $after + 1; $minute <= $until; $minute++) {
            $audience = $audience->withMinute($minute, $lists[$minute] ?? 0);
        }
        $this->saveAudience($region, $audience);
    }

    public function audience(string $region): Audience
    {
        $hours = $lists = [];
        foreach ($this->database->rows(self::FIND_HOURS, [$region]) as $row) {
            /** @var array{hour: int, lists: float, minutes: float, counted_at: int} $row */
            $hours[$row['hour']] = [$row['lists'], $row['minutes'], $row['counted_at']];
        }
        foreach ($this->database->rows(self::FIND_LISTS, [$region]) as $row) {
            /** @var array{window: string, category: string, rank_group: int, impressions: float, counted_at: int} $row */
            $lists["{$row['window']} {$row['category']}"][$row['rank_group']] = [
                $row['impressions'],
                $row['counted_at'],
            ];
        }

        return new Audience($hours, $lists);
    }

    private function saveAudience(string $region, Audience $audience): void
    {
        foreach ($audience->changedHours as $hour => $_) {
            $this->database->run(self::SAVE_HOUR, [$region, $hour, ...$audience->hours[$hour]]);
        }
        foreach ($audience->changedLists as $list => $groups) {
            foreach ($groups as $group => $_) {
                $key = [$region, ...explode(' ', $list, 2), $group];
                $this->database->run(self::SAVE_LIST, [...$key, ...$audience->lists[$list][$group]]);
            }
        }
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
            $sum->recentImpressions,
            $sum->recentClicks,
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
            /** @var array{rank_group: int, impressions: float, counted_since: int, counted_at: int} $row */
            $sums[$row['rank_group']] = [$row['impressions'], $row['counted_since'], $row['counted_at']];
        }

        return $sums;
    }

    /** @param array<string, mixed> $row */
    private static function read(array $row): ClickCounts
    {
        /** @var array{rank_group: int, age_group: int, impressions: float, clicks: float, age_hours: float, counted_at: int, recent_impressions: float, recent_clicks: float} $row */
        return new ClickCounts(
            $row['rank_group'],
            $row['age_group'],
            $row['impressions'],
            $row['clicks'],
            $row['age_hours'],
            $row['counted_at'],
            $row['recent_impressions'],
            $row['recent_clicks'],
        );
    }

    private function ageStartsAt(string $videoId): ?int
    {
        /** @var ?array{first_seen_at: int, published_at: ?int} $video */
        $video = $this->database->row(self::FIND_VIDEO, [$videoId]);

        return $video === null
            ? null
            : ClickCounts::ageStartsAt($video['first_seen_at'], $video['published_at']);
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
        public Window $window = Window::Now,
        /** The list's name, see TopLists. */
        public string $category = '',
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
            $this->impressions,
            $this->clicks,
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

/**
 * How many lists of a region are served at each hour of the day, and how many impressions the ranks of a list get for each
 * of them: what a place will bring depends on both, and on no video.
 */
final class Audience
{
    /** An hour of the day is known when so many of its minutes were counted. */
    private const float LEAST_MINUTES = 20.0;

    /** @var array<int, true> since it was read */
    public array $changedHours = [];
    /** @var array<string, array<int, true>> since it was read */
    public array $changedLists = [];

    /**
     * @param array<int, array{float, float, int}> $hours by UTC hour of the day: lists served, minutes counted, as sums that
     *   fade with ClickCounts::HALF_LIFE_HOURS, and the time that they are of
     * @param array<string, array<int, array{float, int}>> $lists by window and name ("now Music"), and rank group:
     *   impressions as such a sum, and its time
     */
    public function __construct(public array $hours = [], public array $lists = []) {}

    /** @param int $minute Unix time / 60 */
    public function withMinute(int $minute, int $lists): self
    {
        $hour = intdiv($minute, 60) % 24;
        $at = 60 * ($minute + 1);
        [$before, $minutes, $last] = $this->hours[$hour] ?? [0.0, 0.0, $at];
        [$kept, $new] = [ClickCounts::kept($at - $last), ClickCounts::kept($last - $at)];
        $this->hours[$hour] = [$kept * $before + $new * $lists, $kept * $minutes + $new, max($at, $last)];
        $this->changedHours[$hour] = true;

        return $this;
    }

    /** @param list<CountedImpressions> $counts */
    public function withImpressions(array $counts): self
    {
        foreach ($counts as $count) {
            $list = "{$count->window->value} $count->category";
            $group = RankGroup::of($count->rank);
            [$before, $last] = $this->lists[$list][$group] ?? [0.0, $count->countedAt];
            $this->lists[$list][$group] = [
                ClickCounts::kept($count->countedAt - $last) * $before +
                ClickCounts::kept($last - $count->countedAt) * $count->impressions,
                max($last, $count->countedAt),
            ];
            $this->changedLists[$list][$group] = true;
        }

        return $this;
    }

    /**
     * Of each rank of a list in the window ahead: lists served then · impressions for each list served until now. Null where
     * an hour of the day that lies ahead was not counted yet, or nobody saw the list.
     *
     * @param int $ranks how many the list has
     * @param int $now UTC seconds
     * @return ?array<int, float> by rank group
     */
    public function expectedImpressions(Window $window, string $name, int $ranks, int $now): ?array
    {
        $ahead = $this->listsAhead($window, $now);
        $served = 0.0;
        foreach ($this->hours as [$lists, , $at]) {
            $served += ClickCounts::kept($now - $at) * $lists;
        }
        $seen = $this->lists["$window->value $name"] ?? [];
        if ($ahead === null || $served <= 0.0 || $seen === []) {
            return null;
        }
        $expected = [];
        $deeper = 0.0; // who sees a rank has seen those above, also where what stood there is not counted: it is made for kids
        foreach (array_reverse(RankGroup::FIRST_RANKS, true) as $index => $group) {
            [$impressions, $at] = $seen[$group] ?? [0.0, $now];
            $last = min($ranks, (RankGroup::FIRST_RANKS[$index + 1] ?? $ranks + 1) - 1);
            $all = ($ahead / $served) * ClickCounts::kept($now - $at) * $impressions;
            $deeper = max($deeper, $all / RankGroup::size($group));
            $expected[$group] = max($deeper, $all / max(1, $last - $group + 1));
        }

        return $expected;
    }

    /**
     * Of the impressions that all lists get, those of each.
     *
     * @param int $now UTC seconds
     * @return array<string, non-empty-array<int, float>> from 0 to 1, by window and name, and rank group; none of a list at
     *   which nobody looked
     */
    public function parts(int $now): array
    {
        $all = $parts = [];
        foreach ($this->lists as $list => $groups) {
            foreach ($groups as $group => [$impressions, $at]) {
                $parts[$list][$group] = ClickCounts::kept($now - $at) * $impressions;
                $all[$group] = ($all[$group] ?? 0.0) + $parts[$list][$group];
            }
        }
        foreach ($parts as $list => $groups) {
            foreach ($groups as $group => $some) {
                $parts[$list][$group] = $all[$group] > 0.0 ? $some / $all[$group] : 0.0;
            }
        }

        return $parts;
    }

    /** How many lists are served in the window ahead, if each hour of the day is as it was. */
    private function listsAhead(Window $window, int $now): ?float
    {
        $lists = 0.0;
        $until = $now + (int) ($window->hours() * 3600);
        for ($from = $now; $from < $until; $from = $next) {
            $next = min($until, 3600 * (intdiv($from, 3600) + 1));
            [$served, $minutes] = $this->hours[intdiv($from, 3600) % 24] ?? [0.0, 0.0];
            if ($minutes < self::LEAST_MINUTES) {
                return null;
            }
            $lists += ($served / $minutes) * (($next - $from) / 60);
        }

        return $lists;
    }
}
