<?php

declare(strict_types=1);

namespace TrendVault\Writer\Explain;

use TrendVault\Writer\Database\Database;
use TrendVault\Writer\Database\Removals;
use TrendVault\Writer\Ranking\Forecast;
use TrendVault\Writer\Ranking\Velocity;

/** The facts behind a video's ranks in a region, as of the newest generation. Times are UTC seconds. */
final readonly class Explanation
{
    private const int MAX_OBSERVATIONS = 10;

    private const string VELOCITY =
        'SELECT v.title, v.channel, v.category, v.published_at, v.first_seen_at, ' .
        Velocity::COLUMNS .
        ' FROM videos AS v LEFT JOIN velocity AS y ON y.video_id = v.id AND y.region = ?2 WHERE v.id = ?1' .
        ' AND (y.video_id IS NOT NULL OR EXISTS (SELECT 1 FROM catalogue WHERE region = ?2 AND video_id = ?1))';
    private const string RANKS = <<<'SQL'
    SELECT window, rank, score, (SELECT count(*) FROM trending WHERE generation = t.generation AND region = t.region AND window = t.window AND category = '') AS total
    FROM trending AS t WHERE generation = ?3 AND video_id = ?1 AND region = ?2 AND category = ''
    SQL;
    private const string HISTORY_FILE = __DIR__ . '/../../../db/queries/video-history.sql';

    /**
     * @param ?int $publishedAt of the video; null when it is unknown
     * @param array<string, array{rank: int, score: float, total: int}> $ranks by window; none where it is not listed
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
        /** What its age counts from. */
        public int $ageStartsAt,
        public int $generation,
        public int $generationAt,
        public string $formula,
        public array $ranks,
        public array $limited,
        public array $history,
        /** Why it was taken down; null when it was not. */
        public ?string $removal,
        /** Null where the region has no looks. */
        public ?LookFacts $looks,
    ) {}

    /** Null when the video was neither observed nor announced in that region, or nothing was published yet. */
    public static function find(Database $database, string $region, string $videoId): ?self
    {
        $row = $database->rows(self::VELOCITY, [$videoId, $region])[0] ?? null;
        $generation =
            $database->rows(
                'SELECT id, published_at, formula FROM generations ORDER BY id DESC LIMIT 1',
            )[0] ?? null;
        if ($row === null || $generation === null) {
            return null;
        }
        $stored = StoredParts::find($database, $generation['id'], $region, $videoId);
        $velocity = $stored->velocity ?? self::velocity($row);
        $ranks = $database->rows(self::RANKS, [$videoId, $region, $generation['id']]);
        $historyQuery = (string) file_get_contents(self::HISTORY_FILE);

        return new self(
            $region,
            title: $row['title'],
            channel: $row['channel'],
            category: $row['category'],
            publishedAt: $row['published_at'],
            velocity: $velocity,
            ageStartsAt: $stored->ageStartsAt ??
                Forecast::ageStartsAt($velocity->firstObservedAt, $row['published_at']),
            generation: $generation['id'],
            generationAt: $generation['published_at'],
            formula: $generation['formula'],
            ranks: array_column($ranks, null, 'window'),
            limited: $stored->limited ?? [],
            history: $database->rows($historyQuery, [$videoId, self::MAX_OBSERVATIONS, $region]),
            removal: new Removals($database)->reasonFor($videoId, $row['channel']),
            looks: LookFacts::find(
                $database,
                $region,
                $videoId,
                $generation['id'],
                $generation['published_at'],
                $stored,
            ),
        );
    }

    /** @param array<string, mixed> $row */
    private static function velocity(array $row): Velocity
    {
        return $row['first_observed_at'] === null
            ? Velocity::none($row['first_seen_at'])
            : Velocity::fromRow($row);
    }
}
