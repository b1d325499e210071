<?php

declare(strict_types=1);

namespace TrendVault\Writer\Explain;

use TrendVault\Writer\Database\Database;
use TrendVault\Writer\Ranking\AppealModel;
use TrendVault\Writer\Ranking\Contender;
use TrendVault\Writer\Ranking\Evidence;
use TrendVault\Writer\Ranking\LookParts;
use TrendVault\Writer\Ranking\Velocity;

/** What visitors of a region's lists did with a video, and what the ranking makes of it. */
final readonly class LookFacts
{
    private const string LOOKS = 'SELECT video_id, rank_group, looks, aged_looks, views, counted_at FROM looks WHERE region = ?';
    private const string CONTENDERS =
        'SELECT v.id, v.channel, v.category, v.published_at, v.first_seen_at, ' .
        Velocity::COLUMNS .
        ' FROM videos AS v LEFT JOIN velocity AS y ON y.video_id = v.id AND y.region = ?1' .
        ' WHERE y.video_id IS NOT NULL OR v.id IN (SELECT video_id FROM catalogue WHERE region = ?1)';
    private const string EXPLORED = <<<'SQL'
    SELECT t.window FROM trending AS t JOIN explored_ranks USING (generation, region, window, category, rank)
    WHERE t.generation = ? AND t.video_id = ? AND t.region = ? AND t.category = ''
    SQL;

    /** @param list<string> $exploredWindows where its rank was not earned */
    private function __construct(public LookParts $parts, public array $exploredWindows) {}

    /**
     * What was stored with the generation; for a video that is in none of the lists, from what is stored now.
     *
     * @param int $at UTC seconds
     * @return ?self null where the region has no looks
     */
    public static function find(
        Database $database,
        string $region,
        string $videoId,
        int $generation,
        int $at,
        ?StoredParts $stored,
    ): ?self {
        $parts = $stored === null ? self::compute($database, $region, $videoId, $at) : $stored->looks;
        $explored = $database->rows(self::EXPLORED, [$generation, $videoId, $region]);

        return $parts === null ? null : new self($parts, array_column($explored, 'window'));
    }

    private static function compute(Database $database, string $region, string $videoId, int $at): ?LookParts
    {
        $evidence = [];
        foreach ($database->rows(self::LOOKS, [$region]) as $row) {
            $evidence["#{$row['video_id']}"][$row['rank_group']] = new Evidence(
                $row['looks'],
                $row['aged_looks'],
                $row['views'],
                $row['counted_at'],
            );
        }
        $contenders = [];
        foreach ($evidence === [] ? [] : $database->rows(self::CONTENDERS, [$region]) as $row) {
            $contenders["#{$row['id']}"] = new Contender(
                $row['id'],
                $row['channel'],
                $row['category'],
                $row['published_at'],
                $row['first_observed_at'] === null
                    ? Velocity::none($row['first_seen_at'])
                    : Velocity::fromRow($row),
                $evidence["#{$row['id']}"] ?? [],
            );
        }
        $place = array_search("#$videoId", array_keys($contenders), true);
        if ($place === false) {
            return null;
        }
        $contenders = array_values($contenders);
        $model = new AppealModel($contenders, $at);
        $looks = $contenders[$place]->looks($at);

        return new LookParts($looks->looks, $looks->views, $model->weight(), $model->estimate($place));
    }
}
