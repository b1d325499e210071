<?php

declare(strict_types=1);

namespace TrendVault\Writer\Status;

use Closure;
use TrendVault\Writer\Database\Database;
use TrendVault\Writer\Database\RegionShare;
use TrendVault\Writer\Sources\YouTube\QuotaRecord;

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

/** What the commands did, and what became of the lines that they read. */
final readonly class RunMetrics
{
    private const int DAY_SECONDS = 86_400;
    private const string LAST_RUNS = <<<'SQL'
    SELECT command, started_at, finished_at, exit_code FROM runs
    WHERE id IN (SELECT max(id) FROM runs GROUP BY command) ORDER BY command
    SQL;
    private const string LINES = <<<'SQL'
    SELECT ifnull(sum(accepted), 0) AS accepted, ifnull(sum(unchanged), 0) AS unchanged, ifnull(sum(late), 0) AS late,
      ifnull(sum(conflicting), 0) AS conflicting, ifnull(sum(removed), 0) AS removed, ifnull(sum(announced), 0) AS announced
    FROM runs WHERE started_at >= ?
    SQL;
    private const string REJECTIONS = <<<'SQL'
    SELECT reason, sum(line_count) AS lines FROM rejections JOIN runs ON runs.id = run_id
    WHERE started_at >= ? GROUP BY reason ORDER BY reason
    SQL;

    /** @param int $now UTC seconds */
    public static function add(Metrics $metrics, Database $database, int $now): void
    {
        self::addRuns($metrics, $database->rows(self::LAST_RUNS));
        self::addLines($metrics, $database, $now - self::DAY_SECONDS);
    }

    /** @param list<array<string, mixed>> $runs the last one of each command */
    private static function addRuns(Metrics $metrics, array $runs): void
    {
        $samples = static fn(Closure $value): array => array_map(
            static fn(array $run): array => [$value($run), ['command' => $run['command']]],
            $runs,
        );
        $metrics->gauge(
            'run_start_timestamp_seconds',
            'When the last run of a command began.',
            $samples(static fn(array $run): int => $run['started_at']),
        );
        $metrics->gauge(
            'run_duration_seconds',
            'How long it took; not there while it works, and when it was killed.',
            $samples(
                static fn(array $run): ?int => $run['finished_at'] === null
                    ? null
                    : $run['finished_at'] - $run['started_at'],
            ),
        );
        $metrics->gauge(
            'run_exit_code',
            'Its exit code; 0 is good.',
            $samples(static fn(array $run): ?int => $run['exit_code']),
        );
    }

    private static function addLines(Metrics $metrics, Database $database, int $since): void
    {
        $samples = [];
        foreach ($database->rows(self::LINES, [$since])[0] as $outcome => $lines) {
            $samples[] = [$lines, ['outcome' => $outcome]];
        }
        $metrics->gauge(
            'lines_last_day',
            'Lines of the runs of the last 24 hours, by what became of them.',
            $samples,
        );
        $rejected = array_map(
            static fn(array $row): array => [$row['lines'], ['reason' => $row['reason']]],
            $database->rows(self::REJECTIONS, [$since]),
        );
        $metrics->gauge(
            'rejected_lines_last_day',
            'Lines set aside in that time.',
            $rejected ?: [[0, ['reason' => 'none']]],
        );
    }
}

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

/** What is in the stores: generations, bundles and backups. */
final readonly class StoreMetrics
{
    private const string STORES = <<<'SQL'
    SELECT store, generation, published_at, seconds, file_bytes, bundle_published_at, bundle_seconds, bundle_bytes,
      failed_at IS NOT NULL AS failed
    FROM publications ORDER BY store
    SQL;
    private const string BACKUPS = <<<'SQL'
    SELECT store, max(CASE WHEN bytes IS NOT NULL THEN began_at END) AS made_at,
      (SELECT bytes IS NULL FROM backups AS last WHERE store = b.store ORDER BY id DESC LIMIT 1) AS failed
    FROM backups AS b GROUP BY store ORDER BY store
    SQL;

    public static function add(Metrics $metrics, Database $database): void
    {
        self::addStores($metrics, $database->rows(self::STORES));
        self::addBackups($metrics, $database->rows(self::BACKUPS));
    }

    /** @param list<array<string, mixed>> $stores */
    private static function addStores(Metrics $metrics, array $stores): void
    {
        $help = [
            'generation' => ['store_generation', 'The newest generation in a store.'],
            'published_at' => ['store_timestamp_seconds', 'When it was published there.'],
            'seconds' => ['store_duration_seconds', 'How long that took.'],
            'file_bytes' => ['store_file_bytes', 'Size of its generation file.'],
            'bundle_published_at' => [
                'store_bundle_timestamp_seconds',
                'When the newest bundle was published.',
            ],
            'bundle_seconds' => [
                'store_bundle_duration_seconds',
                'How long rendering and publishing it took.',
            ],
            'bundle_bytes' => ['store_bundle_bytes', 'Size of that bundle.'],
            'failed' => ['store_failed', 'Whether the last run failed there.'],
        ];
        self::addByStore($metrics, $help, $stores);
    }

    /** @param list<array<string, mixed>> $stores */
    private static function addBackups(Metrics $metrics, array $stores): void
    {
        $help = [
            'made_at' => ['backup_timestamp_seconds', 'When the newest backup was made.'],
            'failed' => ['backup_failed', 'Whether the last backup failed, or was broken off.'],
        ];
        self::addByStore($metrics, $help, $stores);
    }

    /**
     * @param array<string, array{string, string}> $help name and text, by column
     * @param list<array<string, mixed>> $stores
     */
    private static function addByStore(Metrics $metrics, array $help, array $stores): void
    {
        foreach ($help as $column => [$name, $text]) {
            $metrics->gauge(
                $name,
                $text,
                array_map(
                    static fn(array $store): array => [$store[$column], ['store' => $store['store']]],
                    $stores,
                ),
            );
        }
    }
}

/** Metrics in Prometheus' text format 0.0.4: a name's help and type once, then its samples. */
final class Metrics
{
    private string $text = '';

    /**
     * @param string $name without its prefix, with its unit at the end
     * @param list<array{0: int|float|null, 1?: array<string, string|int>}> $samples a value and its labels; null is left out
     */
    public function gauge(string $name, string $help, array $samples): void
    {
        $this->add('gauge', $name, $help, $samples);
    }

    /** @param list<array{0: int|float|null, 1?: array<string, string|int>}> $samples */
    public function counter(string $name, string $help, array $samples): void
    {
        $this->add('counter', $name, $help, $samples);
    }

    public function text(): string
    {
        return $this->text;
    }

    /** @param list<array{0: int|float|null, 1?: array<string, string|int>}> $samples */
    private function add(string $type, string $name, string $help, array $samples): void
    {
        $lines = [];
        foreach ($samples as $sample) {
            if ($sample[0] !== null) {
                $lines[] = "trendvault_writer_$name" . self::labels($sample[1] ?? []) . " $sample[0]\n";
            }
        }
        if ($lines !== []) {
            $this->text .= "# HELP trendvault_writer_$name $help\n# TYPE trendvault_writer_$name $type\n";
            $this->text .= implode('', $lines);
        }
    }

    /** @param array<string, string|int> $labels */
    private static function labels(array $labels): string
    {
        $pairs = [];
        foreach ($labels as $name => $value) {
            $pairs[] =
                $name . '="' . strtr((string) $value, ['\\' => '\\\\', '"' => '\\"', "\n" => '\\n']) . '"';
        }

        return $pairs === [] ? '' : '{' . implode(',', $pairs) . '}';
    }
}
