<?php

declare(strict_types=1);

namespace TrendVault\Writer\Status;

use TrendVault\Writer\Database\Database;
use TrendVault\Writer\Database\RegionShare;

/** What is known of each region, and what was pulled of its lists. */
final readonly class RegionMetrics
{
    private const string REGIONS = <<<'SQL'
    SELECT r.code AS region, max(v.last_observed_at) AS newest_observed_at, count(v.video_id) AS videos
    FROM regions AS r LEFT JOIN velocity AS v ON v.region = r.code GROUP BY r.code ORDER BY r.code
    SQL;
    private const string PULLED = 'SELECT region, lists, looks, views, late_looks + late_views AS late FROM pull_regions ORDER BY region';

    /** @param ?RegionShare $share null when all regions are this writer's */
    public static function add(Metrics $metrics, Database $database, ?RegionShare $share): void
    {
        self::addRegions($metrics, self::owned($database->rows(self::REGIONS), $share));
        self::addPulled($metrics, $database->rows(self::PULLED));
    }

    /**
     * Without those of other writers: what is stored of them is not renewed.
     *
     * @param list<array<string, mixed>> $regions
     * @return list<array<string, mixed>>
     */
    private static function owned(array $regions, ?RegionShare $share): array
    {
        return array_values(
            array_filter(
                $regions,
                static fn(array $row): bool => $share === null ||
                    in_array($row['region'], $share->codes, true),
            ),
        );
    }

    /** @param list<array<string, mixed>> $regions */
    private static function addRegions(Metrics $metrics, array $regions): void
    {
        $metrics->gauge(
            'newest_observation_timestamp_seconds',
            'The newest view count of a region.',
            self::byRegion($regions, 'newest_observed_at'),
        );
        $metrics->gauge('videos', 'Videos with view counts in a region.', self::byRegion($regions, 'videos'));
    }

    /**
     * @param list<array<string, mixed>> $rows
     * @return list<array{0: int|float|null, 1: array<string, string>}>
     */
    private static function byRegion(array $rows, string $column): array
    {
        return array_map(
            static fn(array $row): array => [$row[$column], ['region' => $row['region']]],
            $rows,
        );
    }

    /** @param list<array<string, mixed>> $pulled totals by region */
    private static function addPulled(Metrics $metrics, array $pulled): void
    {
        foreach (['lists', 'looks', 'views', 'late'] as $what) {
            $metrics->counter(
                "pulled_{$what}_total",
                "Pulled from the edge: $what.",
                self::byRegion($pulled, $what),
            );
        }
    }
}
