<?php

declare(strict_types=1);

namespace TrendVault\Writer\Ranking;

use TrendVault\Writer\Database\Database;
use TrendVault\Writer\Database\RegionShare;

/** The regions that rank by more than the forecast: those with looks, and those with videos that nobody counts. */
final class LookedRegions
{
    private const string LOOKS = 'SELECT region, video_id, rank_group, looks, aged_looks, views, counted_at FROM looks';
    private const string CATALOGUE = <<<'SQL'
    SELECT c.region, c.video_id, v.channel, v.category, v.language, v.published_at, v.first_seen_at
    FROM catalogue AS c JOIN videos AS v ON v.id = c.video_id
    SQL;

    /** @var array<string, array<string, array<int, Evidence>>> by region, "#" and video, rank group */
    private array $evidence = [];
    /** @var array<string, array<string, array<string, mixed>>> rows of CATALOGUE by region, "#" and video */
    private array $catalogue = [];
    /** @var array<string, array<string, Contender>> by region, "#" and video */
    private array $contenders = [];
    private bool $useLooks = false;

    /** @param ?RegionShare $share whose regions are read; null for all */
    public function __construct(Database $database, ?RegionShare $share = null)
    {
        $isOwn = static fn(array $row): bool => $share === null || $share->has($row['region']);
        foreach (array_filter($database->rows(self::LOOKS), $isOwn) as $row) {
            $this->evidence[$row['region']]["#{$row['video_id']}"][$row['rank_group']] = new Evidence(
                $row['looks'],
                $row['aged_looks'],
                $row['views'],
                $row['counted_at'],
            );
        }
        foreach (array_filter($database->rows(self::CATALOGUE), $isOwn) as $row) {
            $this->catalogue[$row['region']]["#{$row['video_id']}"] = $row;
        }
    }

    public function has(string $region): bool
    {
        return isset($this->evidence[$region]) || isset($this->catalogue[$region]);
    }

    public function add(
        string $region,
        string $videoId,
        string $channel,
        ?string $category,
        ?string $language,
        ?int $publishedAt,
        Velocity $velocity,
    ): void {
        $this->contenders[$region]["#$videoId"] = new Contender(
            $videoId,
            $channel,
            $category,
            $publishedAt,
            $velocity,
            $this->evidence[$region]["#$videoId"] ?? [],
            $language,
        );
    }

    /**
     * Adds the videos that only the catalogue names, and offers all.
     *
     * @param array<string, mixed> $videos removed, by id
     * @param array<string, mixed> $channels removed, by name
     */
    public function offerTo(RankedLists $lists, array $videos, array $channels, float $exploreShare): void
    {
        foreach ($this->catalogue as $region => $rows) {
            foreach (array_diff_key($rows, $this->contenders[$region] ?? []) as $row) {
                isset($videos[$row['video_id']]) || isset($channels[$row['channel']])
                    ? $lists->skipRemoved($region, $row['video_id'])
                    : $this->add(
                        $region,
                        $row['video_id'],
                        $row['channel'],
                        $row['category'],
                        $row['language'],
                        $row['published_at'],
                        Velocity::none($row['first_seen_at']),
                    );
            }
        }
        foreach ($this->contenders as $region => $contenders) {
            $model = $lists->offerAll($region, array_values($contenders), $exploreShare);
            $this->useLooks = $this->useLooks || $model->weight() > 0.0;
        }
        $lists->usesLooks = $this->useLooks;
    }

    /** What generations.formula says. */
    public function formula(): string
    {
        return Forecast::VERSION . ($this->useLooks ? '+' . AppealModel::VERSION : '');
    }
}
