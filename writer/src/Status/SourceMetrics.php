<?php

declare(strict_types=1);

namespace TrendVault\Writer\Status;

use TrendVault\Writer\Database\Database;
use TrendVault\Writer\Sources\YouTube\QuotaRecord;

/** Which sources failed, which platforms are left alone for that, and what was used of YouTube's quotas. */
final readonly class SourceMetrics
{
    private const string FAILING_INSTANCES = <<<'SQL'
    SELECT substr(source, 10) AS host, retry_at FROM source_schedules WHERE source GLOB 'peertube:*' AND failure IS NOT NULL
    SQL;
    private const string FAILURES = <<<'SQL'
    SELECT source, count(*) AS runs FROM source_failures JOIN runs ON runs.id = run_id
    WHERE started_at >= ? GROUP BY source ORDER BY source
    SQL;
    private const int DAY_SECONDS = 86_400;

    /** @param int $now UTC seconds */
    public static function add(Metrics $metrics, Database $database, int $now): void
    {
        self::addPauses($metrics, $database);
        $failures = array_map(
            static fn(array $row): array => [$row['runs'], ['source' => $row['source']]],
            $database->rows(self::FAILURES, [$now - self::DAY_SECONDS]),
        );
        $metrics->gauge(
            'source_failures_last_day',
            'Runs of the last 24 hours in which a source failed.',
            $failures ?: [[0, ['source' => 'none']]],
        );
        $units = [];
        foreach (QuotaRecord::today($database, $now) as $quota => $used) {
            $units[] = [$used, ['quota' => $quota]];
        }
        $metrics->gauge(
            'youtube_quota_units_today',
            'Attempts to ask YouTube since midnight Pacific time, each a unit of its quota at most.',
            $units,
        );
    }

    private static function addPauses(Metrics $metrics, Database $database): void
    {
        $paused = $database->value(
            "SELECT retry_at FROM source_schedules WHERE source = 'youtube' AND failure IS NOT NULL",
        );
        $metrics->gauge('youtube_retry_timestamp_seconds', 'YouTube fails, and is not asked before.', [
            [$paused],
        ]);
        $metrics->gauge(
            'peertube_retry_timestamp_seconds',
            'An instance of PeerTube fails, and is not asked before.',
            array_map(
                static fn(array $row): array => [$row['retry_at'], ['host' => $row['host']]],
                $database->rows(self::FAILING_INSTANCES),
            ),
        );
    }
}
