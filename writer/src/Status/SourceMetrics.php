<?php

declare(strict_types=1);

namespace TrendVault\Writer\Status;

use TrendVault\Writer\Database\Database;

/** Platforms that are left alone because they fail. */
final readonly class SourceMetrics
{
    private const string FAILING_INSTANCES = <<<'SQL'
    SELECT substr(source, 10) AS host, retry_at FROM source_schedules WHERE source GLOB 'peertube:*' AND failure IS NOT NULL
    SQL;

    public static function add(Metrics $metrics, Database $database): void
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
