<?php

declare(strict_types=1);

namespace TrendVault\Writer\Status;

use TrendVault\Writer\Database\Database;
use TrendVault\Writer\Database\RegionTable;
use TrendVault\Writer\Editorial\EditorialStore;
use TrendVault\Writer\Observations\Restrictions;
use TrendVault\Writer\Sources\YouTube\QuotaRecord;

/**
 * The state of a database for node_exporter's textfile collector. Times are Unix seconds, not ages: a file that is not
 * written any more would keep its ages. Only reads.
 */
final readonly class MetricsReport
{
    private const int DAY_SECONDS = 86_400;

    private const string LAST_CHECK = <<<'SQL'
    SELECT max(CASE WHEN result <> 'unfinished' THEN checked_at END) AS checked_at,
      (SELECT result = 'damaged' FROM checks WHERE result <> 'unfinished' ORDER BY id DESC LIMIT 1) AS damaged
    FROM checks
    SQL;
    private const string GENERATION = 'SELECT id, published_at, video_count FROM generations ORDER BY id DESC LIMIT 1';
    private const string LAST_RUNS = <<<'SQL'
    SELECT command, finished_at - started_at AS seconds, exit_code FROM runs
    WHERE id IN (SELECT max(id) FROM runs GROUP BY command) ORDER BY command
    SQL;
    private const string LINES = <<<'SQL'
    WITH runs_of_a_day AS (SELECT * FROM runs WHERE started_at >= ?)
    SELECT 'accepted' AS outcome, ifnull(sum(accepted), 0) AS lines FROM runs_of_a_day
    UNION ALL SELECT 'unchanged', ifnull(sum(unchanged), 0) FROM runs_of_a_day
    UNION ALL SELECT 'late', ifnull(sum(late), 0) FROM runs_of_a_day
    UNION ALL SELECT 'conflicting', ifnull(sum(conflicting), 0) FROM runs_of_a_day
    UNION ALL SELECT 'removed', ifnull(sum(removed), 0) FROM runs_of_a_day
    UNION ALL SELECT 'allowed', ifnull(sum(allowed), 0) FROM runs_of_a_day
    UNION ALL SELECT 'announced', ifnull(sum(announced), 0) FROM runs_of_a_day
    SQL;
    private const string REJECTIONS = <<<'SQL'
    SELECT reason, sum(line_count) AS lines FROM rejections JOIN runs ON runs.id = run_id
    WHERE started_at >= ? GROUP BY reason ORDER BY reason
    SQL;
    private const string REGIONS = <<<'SQL'
    SELECT r.code AS region, max(v.last_observed_at) AS newest_observed_at, count(v.video_id) AS videos
    FROM regions AS r LEFT JOIN velocity AS v ON v.region = r.code GROUP BY r.code ORDER BY r.code
    SQL;
    private const string PULLED = 'SELECT region, lists, impressions, clicks FROM pull_regions ORDER BY region';
    /** It ends by itself with a source that is not asked any more. */
    private const string PAUSES = 'SELECT source, retry_at FROM source_pauses WHERE retry_at > ? - 3600 ORDER BY source';
    private const string FAILURES = <<<'SQL'
    SELECT source, count(*) AS runs FROM source_failures JOIN runs ON runs.id = run_id
    WHERE started_at >= ? GROUP BY source ORDER BY source
    SQL;
    private const string STORES = <<<'SQL'
    SELECT store, published_at, seconds, bundle_published_at, bundle_seconds, failed_at IS NOT NULL AS failed
    FROM publications ORDER BY store
    SQL;
    private const string BACKUPS = <<<'SQL'
    SELECT store, max(CASE WHEN bytes IS NOT NULL THEN began_at END) AS made_at,
      (SELECT bytes IS NULL FROM backups AS last WHERE store = b.store ORDER BY id DESC LIMIT 1) AS failed
    FROM backups AS b GROUP BY store ORDER BY store
    SQL;

    /**
     * @param string $path of the database
     * @param int $now UTC seconds
     * @param ?RegionTable $regions null when all regions are this writer's; nothing is renewed of the others
     */
    public static function text(
        Database $database,
        string $path,
        int $now,
        ?RegionTable $regions = null,
    ): string {
        $since = $now - self::DAY_SECONDS;
        clearstatcache();

        return implode('', [
            self::gauge('database_bytes', 'Size of the database file.', [[(int) @filesize($path)]]),
            self::gauge('wal_bytes', 'Size of its write-ahead log.', [[(int) @filesize("$path-wal")]]),
            self::columns($database->rows(self::LAST_CHECK), null, [
                'checked_at' => ['check_timestamp_seconds', 'When a check of the whole file ended last.'],
                'damaged' => ['database_damaged', '1 when it found damage.'],
            ]),
            self::columns($database->rows(self::GENERATION), null, [
                'id' => ['generation', 'Number of the newest generation.'],
                'published_at' => ['generation_timestamp_seconds', 'When it was published.'],
                'video_count' => ['generation_videos', 'Videos in it.'],
            ]),
            self::columns($database->rows(self::LAST_RUNS), 'command', [
                'seconds' => [
                    'run_duration_seconds',
                    'How long the last run of a command took; not there while it works, and when it was killed.',
                ],
                'exit_code' => ['run_exit_code', 'Its exit code; 0 is good.'],
            ]),
            self::columns($database->rows(self::LINES, [$since]), 'outcome', [
                'lines' => [
                    'lines_last_day',
                    'Lines of the runs of the last 24 hours, by what became of them.',
                ],
            ]),
            self::columns(
                $database->rows(self::REJECTIONS, [$since]) ?: [['reason' => 'none', 'lines' => 0]],
                'reason',
                ['lines' => ['rejected_lines_last_day', 'Lines set aside in that time.']],
            ),
            self::columns(
                $database->rows(Restrictions::HELD) ?: [['reason' => 'none', 'videos' => 0]],
                'reason',
                [
                    'videos' => ['held_videos', 'Videos that are in no list, by the reason in their lines.'],
                ],
            ),
            self::editorial($database, $now),
            self::columns(
                array_filter(
                    $database->rows(self::REGIONS),
                    static fn(array $row): bool => $regions === null ||
                        in_array($row['region'], $regions->own, true),
                ),
                'region',
                [
                    'newest_observed_at' => [
                        'newest_observation_timestamp_seconds',
                        'The newest view count of a region.',
                    ],
                    'videos' => ['videos', 'Videos with view counts in a region.'],
                ],
            ),
            self::columns(
                $database->rows(self::PULLED),
                'region',
                [
                    'lists' => ['pulled_lists_total', 'Pulled from the edge: lists.'],
                    'impressions' => ['pulled_impressions_total', 'Pulled from the edge: impressions.'],
                    'clicks' => ['pulled_clicks_total', 'Pulled from the edge: clicks.'],
                ],
                'counter',
            ),
            self::columns($database->rows(self::PAUSES, [$now]), 'source', [
                'retry_at' => [
                    'source_retry_timestamp_seconds',
                    'A source fails or asks for a pause, and is not asked before; until an hour after that.',
                ],
            ]),
            self::columns(
                $database->rows(self::FAILURES, [$since]) ?: [['source' => 'none', 'runs' => 0]],
                'source',
                [
                    'runs' => [
                        'source_failures_last_day',
                        'Runs of the last 24 hours in which a source failed.',
                    ],
                ],
            ),
            self::columns(self::quotas($database, $now), 'quota', [
                'units' => [
                    'youtube_quota_units_today',
                    'Attempts to ask YouTube since midnight Pacific time, each a unit of its quota at most.',
                ],
            ]),
            self::columns($database->rows(self::STORES), 'store', [
                'published_at' => [
                    'store_timestamp_seconds',
                    'When the newest generation was published in a store.',
                ],
                'seconds' => ['store_duration_seconds', 'How long that took.'],
                'bundle_published_at' => [
                    'store_bundle_timestamp_seconds',
                    'When the newest bundle was published.',
                ],
                'bundle_seconds' => [
                    'store_bundle_duration_seconds',
                    'How long rendering and publishing it took.',
                ],
                'failed' => ['store_failed', 'Whether the last run failed there.'],
            ]),
            self::columns($database->rows(self::BACKUPS), 'store', [
                'made_at' => ['backup_timestamp_seconds', 'When the newest backup was made.'],
                'failed' => ['backup_failed', 'Whether the last backup failed, or was broken off.'],
            ]),
        ]);
    }

    /**
     * A metric in Prometheus' text format 0.0.4: its help and type once, then its samples; nothing without a sample.
     *
     * @param string $name without its prefix, with its unit at the end
     * @param list<array{0: mixed, 1?: array<string, string>}> $samples a value and its labels; null is left out
     * @param string $type gauge or counter
     */
    public static function gauge(string $name, string $help, array $samples, string $type = 'gauge'): string
    {
        $name = "trendvault_writer_$name";
        $lines = '';
        foreach ($samples as $sample) {
            if (is_int($sample[0]) || is_float($sample[0])) {
                $lines .= $name . self::labels($sample[1] ?? []) . " $sample[0]\n";
            }
        }

        return $lines === '' ? '' : "# HELP $name $help\n# TYPE $name $type\n$lines";
    }

    /**
     * @param array<array<string, mixed>> $rows
     * @param ?string $label the column that is the label of all
     * @param array<string, array{string, string}> $metrics name and help of each metric, by column
     */
    private static function columns(
        array $rows,
        ?string $label,
        array $metrics,
        string $type = 'gauge',
    ): string {
        $text = '';
        foreach ($metrics as $column => [$name, $help]) {
            $samples = [];
            foreach ($rows as $row) {
                $named = $label !== null && is_scalar($row[$label]) ? [$label => (string) $row[$label]] : [];
                $samples[] = [$row[$column], $named];
            }
            $text .= self::gauge($name, $help, $samples, $type);
        }

        return $text;
    }

    /** @return list<array{quota: string, units: int}> */
    private static function quotas(Database $database, int $now): array
    {
        $quotas = [];
        foreach (QuotaRecord::today($database, $now) as $quota => $units) {
            $quotas[] = ['quota' => $quota, 'units' => $units];
        }

        return $quotas;
    }

    private static function editorial(Database $database, int $now): string
    {
        $store = new EditorialStore($database);
        $facts = $store->facts($now);
        $failed = self::gauge('editorial_failed', '1 while the newest editorial file cannot be read.', [
            [(int) (($facts['failure'] ?? null) !== null)],
        ]);
        if ($facts === null) {
            return $failed;
        }
        $hidden = count($facts['not_shown']);
        $results = $facts['placed'];

        return implode('', [
            $failed,
            self::gauge('editorial_removals', 'Removals of the editorial file.', [[$facts['removals']]]),
            self::gauge('editorial_pins', 'Pins that are not over, by whether the lists show them.', [
                [$facts['pins'] - $hidden, ['shown' => 'yes']],
                [$hidden, ['shown' => 'no']],
            ]),
            self::gauge('editorial_rules', 'Rules that are not over.', [[$facts['rules']]]),
            self::gauge('editorial_reviews', 'Reviews that are not over.', [[$facts['reviews']]]),
            self::gauge('editorial_lifted', 'Restrictions that editors lifted.', [[$facts['lifted']]]),
            self::gauge('editorial_waiting', 'Videos that wait for an editor.', [[$facts['waiting']]]),
            self::gauge('placed_impressions', 'Impressions of placed videos.', [[$results['impressions']]]),
            self::gauge('placed_clicks', 'Clicks on placed videos.', [[$results['clicks']]]),
            self::gauge(
                'placed_model_clicks',
                'Clicks that the same impressions are expected to bring in the order of scores.',
                [[$results['model_clicks']]],
            ),
        ]);
    }

    /** @param array<string, string> $labels */
    private static function labels(array $labels): string
    {
        $pairs = [];
        foreach ($labels as $name => $value) {
            $pairs[] = $name . '="' . strtr($value, ['\\' => '\\\\', '"' => '\\"', "\n" => '\\n']) . '"';
        }

        return $pairs === [] ? '' : '{' . implode(',', $pairs) . '}';
    }
}
