<?php

declare(strict_types=1);

namespace TrendVault\Writer\Explain;

use TrendVault\Writer\Database\Database;
use TrendVault\Writer\Database\Removals;
use TrendVault\Writer\Observations\Restrictions;
use TrendVault\Writer\Ranking\ChannelLimit;
use TrendVault\Writer\Ranking\ClickModel;
use TrendVault\Writer\Ranking\Contender;
use TrendVault\Writer\Ranking\ExplainedVideo;
use TrendVault\Writer\Ranking\Forecast;
use TrendVault\Writer\Ranking\ImpressionStore;
use TrendVault\Writer\Ranking\RankableVideos;
use TrendVault\Writer\Ranking\Velocity;
use TrendVault\Writer\Ranking\VisitorParts;
use TrendVault\Writer\Ranking\Window;

/** The facts behind a video's ranks in a region, as of the newest generation. Times are UTC seconds. */
final readonly class Explanation
{
    private const int MAX_OBSERVATIONS = 10;

    private const string VELOCITY =
        'SELECT v.title, v.channel, v.category, v.published_at, v.first_seen_at, ' .
        Restrictions::COLUMNS .
        ', ' .
        Velocity::COLUMNS .
        ' FROM videos AS v LEFT JOIN velocity AS y ON y.video_id = v.id AND y.region = ?2 WHERE v.id = ?1' .
        ' AND (y.video_id IS NOT NULL OR EXISTS (SELECT 1 FROM catalogue WHERE region = ?2 AND video_id = ?1))';
    private const string RANKS = <<<'SQL'
    SELECT window, rank, score, expected_views, placed, (SELECT count(*) FROM trending WHERE generation = t.generation AND region = t.region AND window = t.window AND category = '') AS total
    FROM trending AS t WHERE generation = ?3 AND video_id = ?1 AND region = ?2 AND category = ''
    SQL;
    private const string LAST = <<<'SQL'
    SELECT window, max(rank) AS rank, score FROM trending
    WHERE generation = ? AND region = ? AND category = '' GROUP BY window
    SQL;
    private const string REGION = 'SELECT newest_observed_at, look_weight FROM generation_regions WHERE generation = ? AND region = ?';
    private const string RULE = <<<'SQL'
    SELECT json_extract(rules, '$."' || ?3 || '"') FROM explanations WHERE generation = ?1 AND region = ?2
    SQL;
    private const string LIFTED = "SELECT group_concat(field, ', ') FROM lifted WHERE video_id = ?";
    private const string HISTORY_FILE = __DIR__ . '/../../../db/queries/video-history.sql';

    /**
     * @param ?int $publishedAt of the video; null when it is unknown
     * @param array<string, array{rank: int, score: float, expected_views: ?float, placed: ?string, total: int, ...}> $ranks by window; none where it is not listed
     * @param array<string, array{rank: int, score: float, ...}> $last the last rank of each window's list
     * @param array<string, array<int, ?int>> $limited by window and rank: the rank without the limit by channel, where it differs; null beyond the list's end
     * @param list<array{region: string, observed_at: int, views: int}> $history newest first
     */
    private function __construct(
        public string $region,
        public string $title,
        public string $channel,
        public ?string $category,
        public ?int $publishedAt,
        public Velocity $velocity,
        /** When it was first stored, whatever its sources say. */
        public int $cameAt,
        /** What its age counts from. */
        public int $ageStartsAt,
        public int $generation,
        public int $generationAt,
        public string $formula,
        public array $ranks,
        public array $last,
        /** The newest view count of the region; null without any. */
        public ?int $newestObservedAt,
        /** How much impressions weigh in scores, from 0 to 1; null where none are counted. */
        public ?float $impressionWeight,
        public ChannelLimit $channelLimit,
        public array $limited,
        public array $history,
        /** Why it was taken down; null when it was not. */
        public ?string $removal,
        /** Why it may not be shown in the region; null when it may. */
        public ?string $restriction,
        /** What editors lifted of its restrictions; null where that is nothing. */
        public ?string $lifted,
        /** Null where the region has no impressions. */
        public ?VisitorFacts $visitors,
        /** @var ?array{factor: int|float, reason: ?string, review_until?: int, enters?: bool} what editors decided of it */
        public ?array $rule,
    ) {}

    /** Null when the video was neither observed nor announced in that region, or nothing was published yet. */
    public static function find(Database $database, string $region, string $videoId): ?self
    {
        /** @var ?array{title: string, channel: string, category: ?string, published_at: ?int, held_because: ?string, available_from: ?int, available_until: ?int, countries: ?string, first_observed_at: ?int, first_seen_at: int, ...<string, mixed>} $row */
        $row = $database->row(self::VELOCITY, [$videoId, $region]);
        /** @var ?array{id: int, published_at: int, formula: string, max_per_channel: int, max_per_channel_ranks: int} $generation */
        $generation = $database->row(
            'SELECT id, published_at, formula, max_per_channel, max_per_channel_ranks FROM generations ORDER BY id DESC LIMIT 1',
        );
        if ($row === null || $generation === null) {
            return null;
        }
        $stored = StoredParts::find($database, $generation['id'], $region, $videoId);
        $velocity = $stored->velocity ?? self::velocity($row, $generation['published_at']);
        /** @var list<array{window: string, rank: int, score: float, expected_views: ?float, placed: ?string, total: int}> $ranks */
        $ranks = $database->rows(self::RANKS, [$videoId, $region, $generation['id']]);
        /** @var list<array{window: string, rank: int, score: float}> $last */
        $last = $database->rows(self::LAST, [$generation['id'], $region]);
        /** @var ?array{newest_observed_at: ?int, look_weight: ?float} $made */
        $made = $database->row(self::REGION, [$generation['id'], $region]);
        /** @var list<array{region: string, observed_at: int, views: int}> $history */
        $history = $database->rows((string) file_get_contents(self::HISTORY_FILE), [
            $videoId,
            self::MAX_OBSERVATIONS,
            $region,
        ]);

        return new self(
            $region,
            title: $row['title'],
            channel: $row['channel'],
            category: $row['category'],
            publishedAt: $row['published_at'],
            velocity: $velocity,
            cameAt: $row['first_seen_at'],
            ageStartsAt: $stored->ageStartsAt ??
                ExplainedVideo::ageStartsAt(
                    $velocity,
                    $row['published_at'],
                    $row['first_seen_at'],
                    $made['look_weight'] ?? null,
                ),
            generation: $generation['id'],
            generationAt: $generation['published_at'],
            formula: $generation['formula'],
            ranks: array_column($ranks, null, 'window'),
            last: array_column($last, null, 'window'),
            newestObservedAt: $made['newest_observed_at'] ?? null,
            impressionWeight: $made['look_weight'] ?? null,
            channelLimit: new ChannelLimit(
                $generation['max_per_channel'],
                $generation['max_per_channel_ranks'],
            ),
            limited: $stored->limited ?? [],
            history: $history,
            removal: new Removals($database)->reasonFor($videoId, $row['channel']),
            restriction: Restrictions::reason($row, $region, $generation['published_at']),
            lifted: $database->text(self::LIFTED, [$videoId]),
            visitors: VisitorFacts::find(
                $database,
                $region,
                $videoId,
                $generation['id'],
                $generation['published_at'],
                ($made['newest_observed_at'] ?? 0) - RankableVideos::MAX_UNOBSERVED_HOURS * 3600,
                $stored,
            ),
            rule: self::rule($database, [$generation['id'], $region, $videoId]),
        );
    }

    /**
     * @param array{int, string, string} $key
     * @return ?array{factor: int|float, reason: ?string, review_until?: int, enters?: bool}
     */
    private static function rule(Database $database, array $key): ?array
    {
        /** @var ?array{factor: int|float, reason: ?string, review_until?: int, enters?: bool} $rule as Ruling::facts() gave it */
        $rule = json_decode($database->text(self::RULE, $key) ?? 'null', true);

        return $rule;
    }

    /** @return ?float of a video that is not in the list; null where that cannot be told */
    public function scoreWithoutRank(Window $window): ?float
    {
        $score = match (true) {
            ($this->impressionWeight ?? 0.0) > 0.0 => $this->visitors?->scores[$window->value] ?? null,
            $this->velocity->observationCount === 0 => null,
            default => Forecast::expectedViews(
                $this->velocity,
                $this->ageStartsAt,
                $window,
                $this->generationAt,
            ),
        };

        return $score === null ? null : ($this->rule['factor'] ?? 1) * $score;
    }

    /** @param array{first_observed_at: ?int, first_seen_at: int, ...<string, mixed>} $row with Velocity::COLUMNS, null where nobody observed the video */
    public static function velocity(array $row, int $at): Velocity
    {
        if ($row['first_observed_at'] === null) {
            return Velocity::none($row['first_seen_at']);
        }
        /**
         * @var array{
         *   first_observed_at: int, last_observed_at: int, observation_count: int, views: int,
         *   views_per_hour: float, rated_at: float, previous_views_per_hour: ?float, levels: ?string,
         * } $row
         */
        return Velocity::fromRow($row, $at);
    }
}

/** What visitors of a region's lists did with a video, and what the ranking makes of it. */
final readonly class VisitorFacts
{
    private const string CONTENDERS =
        'SELECT v.id, v.channel, v.category, v.published_at, v.first_seen_at, ' .
        Velocity::COLUMNS .
        ' FROM videos AS v LEFT JOIN velocity AS y ON y.video_id = v.id AND y.region = ?1 AND y.last_observed_at >= ?2' .
        ' WHERE y.video_id IS NOT NULL OR v.id IN (SELECT video_id FROM catalogue WHERE region = ?1)';
    private const string EXPLORED = <<<'SQL'
    SELECT t.window FROM trending AS t JOIN explored_ranks USING (generation, region, window, category, rank)
    WHERE t.generation = ? AND t.video_id = ? AND t.region = ? AND t.category = ''
    SQL;

    /**
     * @param list<string> $exploredWindows where its rank was not earned
     * @param array<string, float> $scores by window, of a video that is in none of the lists
     */
    private function __construct(
        public VisitorParts $parts,
        public array $exploredWindows,
        public array $scores,
    ) {}

    /**
     * What was stored with the generation; for a video that is in none of the lists, from what is stored now.
     *
     * @param int $at UTC seconds
     * @param int $since UTC seconds: what was counted last before is not counted any more
     * @return ?self null where the region has no impressions
     */
    public static function find(
        Database $database,
        string $region,
        string $videoId,
        int $generation,
        int $at,
        int $since,
        ?StoredParts $stored,
    ): ?self {
        [$parts, $scores] =
            $stored === null
                ? self::compute($database, $region, $videoId, $at, $since)
                : [$stored->visitors, []];
        $explored = $database->texts(self::EXPLORED, [$generation, $videoId, $region]);

        return $parts === null ? null : new self($parts, $explored, $scores);
    }

    /** @return array{?VisitorParts, array<string, float>} and the scores, by window */
    private static function compute(
        Database $database,
        string $region,
        string $videoId,
        int $at,
        int $since,
    ): array {
        $store = new ImpressionStore($database);
        $counts = $store->counts($region);
        $contenders = [];
        /** @var list<array{id: string, channel: string, category: ?string, published_at: ?int, first_observed_at: ?int, first_seen_at: int, ...<string, mixed>}> $rows */
        $rows = $counts === [] ? [] : $database->rows(self::CONTENDERS, [$region, $since]);
        foreach ($rows as $row) {
            $contenders["#{$row['id']}"] = new Contender(
                $row['id'],
                $row['channel'],
                $row['category'],
                $row['published_at'],
                Explanation::velocity($row, $at),
                $counts["#{$row['id']}"] ?? [],
                firstSeenAt: $row['first_seen_at'],
            );
        }
        $place = array_search("#$videoId", array_keys($contenders), true);
        if ($place === false) {
            return [null, []];
        }
        $contenders = array_values($contenders);
        $model = new ClickModel($contenders, $at, $store->traffic($region, $at));

        $rate = $model->rate($place);
        $scores = [];
        foreach (Window::cases() as $window) {
            $scores[$window->value] = $model->score($contenders[$place], $rate, $window);
        }

        return [VisitorParts::of($contenders[$place]->counts, $model->weight(), $rate, $at), $scores];
    }
}

/** What was stored with a generation about a video in the lists over all categories. */
final readonly class StoredParts
{
    private const string FIND = <<<'SQL'
    SELECT json_extract(e.parts, '$."' || ?3 || '"') AS parts, e.limited, r.look_weight, t.views, t.views_per_hour, t.previous_views_per_hour
    FROM explanations AS e
    JOIN generation_regions AS r USING (generation, region)
    JOIN trending AS t INDEXED BY trending_by_video USING (generation, region)
    WHERE generation = ?1 AND region = ?2 AND t.video_id = ?3 AND t.category = '' LIMIT 1
    SQL;

    private function __construct(
        /** It was first observed when its age starts: what the forecast takes of it is the same. */
        public Velocity $velocity,
        /** UTC seconds. */
        public int $ageStartsAt,
        public ?VisitorParts $visitors,
        /** @var array<string, array<int, ?int>> ranks without the limit by channel, where it changed them, by window and rank */
        public array $limited,
    ) {}

    /** Null for a video that is in none of these lists. */
    public static function find(Database $database, int $generation, string $region, string $videoId): ?self
    {
        /** @var ?array{parts: ?string, limited: string, look_weight: ?float, views: int, views_per_hour: float, previous_views_per_hour: ?float} $row */
        $row = $database->row(self::FIND, [$generation, $region, $videoId]);
        if ($row === null || $row['parts'] === null) {
            return null;
        }
        /** @var list<bool|float|int|null> $values as ExplainedVideo::values() gave them */
        $values = json_decode($row['parts'], true, flags: JSON_THROW_ON_ERROR);
        /** @var array<string, array<int, ?int>> $limited */
        $limited = json_decode($row['limited'], true, flags: JSON_THROW_ON_ERROR);
        $parts = ExplainedVideo::fromValues($values, $row['look_weight']);

        return new self(
            new Velocity(
                firstObservedAt: $parts->ageStartsAt,
                lastObservedAt: $parts->countedAt ?? $parts->ageStartsAt,
                observationCount: $parts->observationCount,
                views: $row['views'],
                viewsPerHour: $row['views_per_hour'],
                ratedAt: $parts->ratedAt,
                previousViewsPerHour: $row['previous_views_per_hour'],
            ),
            $parts->ageStartsAt,
            $parts->visitors,
            $limited,
        );
    }
}
