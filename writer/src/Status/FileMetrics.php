<?php

declare(strict_types=1);

namespace TrendVault\Writer\Status;

use TrendVault\Writer\Database\Database;

/** The database file: its size, the last check, the newest generation. */
final readonly class FileMetrics
{
    private const string CHECKS = <<<'SQL'
    SELECT max(CASE WHEN result <> 'unfinished' THEN checked_at END) AS checked_at,
      (SELECT result = 'damaged' FROM checks WHERE result <> 'unfinished' ORDER BY id DESC LIMIT 1) AS damaged
    FROM checks
    SQL;

    /** @param string $path of the database */
    public static function add(Metrics $metrics, Database $database, string $path): void
    {
        self::addFile($metrics, $path);
        self::addCheck($metrics, $database->rows(self::CHECKS)[0]);
        self::addGeneration($metrics, $database);
    }

    private static function addFile(Metrics $metrics, string $path): void
    {
        clearstatcache();
        $metrics->gauge('database_bytes', 'Size of the database file.', [[(int) @filesize($path)]]);
        $metrics->gauge('wal_bytes', 'Size of its write-ahead log.', [[(int) @filesize("$path-wal")]]);
    }

    /** @param array{checked_at: ?int, damaged: ?int} $last of those that ended; nulls before the first */
    private static function addCheck(Metrics $metrics, array $last): void
    {
        $metrics->gauge('check_timestamp_seconds', 'When a check of the whole file ended last.', [
            [$last['checked_at']],
        ]);
        $metrics->gauge('database_damaged', '1 when it found damage.', [[$last['damaged']]]);
    }

    private static function addGeneration(Metrics $metrics, Database $database): void
    {
        $newest = $database->rows(
            'SELECT id, published_at, video_count FROM generations ORDER BY id DESC LIMIT 1',
        );
        [$id, $at, $videos] = array_values($newest[0] ?? [null, null, null]);
        $metrics->gauge('generation', 'Number of the newest generation.', [[$id]]);
        $metrics->gauge('generation_timestamp_seconds', 'When it was published.', [[$at]]);
        $metrics->gauge('generation_videos', 'Videos in it.', [[$videos]]);
    }
}
