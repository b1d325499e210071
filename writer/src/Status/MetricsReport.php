<?php

declare(strict_types=1);

namespace TrendVault\Writer\Status;

use TrendVault\Writer\Database\Database;
use TrendVault\Writer\Database\RegionShare;

/**
 * The state of a database for node_exporter's textfile collector. Times are Unix seconds, not ages: a file that is not
 * written any more would keep its ages. Only reads.
 */
final readonly class MetricsReport
{
    /**
     * @param string $path of the database
     * @param int $now UTC seconds
     * @param ?RegionShare $share null when all regions are this writer's
     */
    public static function text(
        Database $database,
        string $path,
        int $now,
        ?RegionShare $share = null,
    ): string {
        $metrics = new Metrics();
        FileMetrics::add($metrics, $database, $path);
        RunMetrics::add($metrics, $database, $now);
        RegionMetrics::add($metrics, $database, $share);
        SourceMetrics::add($metrics, $database, $now);
        StoreMetrics::add($metrics, $database);

        return $metrics->text();
    }
}
