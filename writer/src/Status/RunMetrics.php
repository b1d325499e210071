<?php

declare(strict_types=1);

namespace TrendVault\Writer\Status;

use Closure;
use TrendVault\Writer\Database\Database;

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
