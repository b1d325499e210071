<?php

declare(strict_types=1);

namespace TrendVault\Writer\Explain;

use TrendVault\Writer\Database\Database;
use TrendVault\Writer\Ranking\ExplainedVideo;
use TrendVault\Writer\Ranking\LookParts;
use TrendVault\Writer\Ranking\Velocity;

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
        public ?LookParts $looks,
        /** @var array<string, array<int, ?int>> ranks without the limit by channel, where it changed them, by window and rank */
        public array $limited,
    ) {}

    /** Null for a video that is in none of these lists. */
    public static function find(Database $database, int $generation, string $region, string $videoId): ?self
    {
        $row = $database->rows(self::FIND, [$generation, $region, $videoId])[0] ?? null;
        if ($row === null || $row['parts'] === null) {
            return null;
        }
        $parts = ExplainedVideo::fromValues(self::decode($row['parts']), $row['look_weight']);

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
            $parts->looks,
            self::decode($row['limited']),
        );
    }

    /** @return array<mixed> */
    private static function decode(string $json): array
    {
        return json_decode($json, true, flags: JSON_THROW_ON_ERROR);
    }
}
