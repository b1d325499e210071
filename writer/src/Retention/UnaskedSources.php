<?php

declare(strict_types=1);

namespace TrendVault\Writer\Retention;

use TrendVault\Writer\Database\Database;

/**
 * Deletes what is only kept to ask a source for less, once it is not asked any more: it may name people, and no next
 * answer takes its place. With it go the days of quotas that are long over. A clock that jumps costs no more than that
 * everything is asked for anew.
 */
final readonly class UnaskedSources
{
    private const int KEPT_SECONDS = 7 * 86_400;

    private const array STATEMENTS = [
        'DELETE FROM source_schedules WHERE asked_at < ?',
        self::PAGES,
        self::INSTANCES,
        'DELETE FROM http_sources WHERE max(asked_at, retry_at) < ?',
        'DELETE FROM youtube_pages WHERE fetched_at < ?',
        'DELETE FROM youtube_regions WHERE asked_at < ?',
        'DELETE FROM youtube_videos WHERE charted_at < ?',
        'DELETE FROM youtube_quota WHERE day_began_at < ?',
    ];
    private const string PAGES = <<<'SQL'
    DELETE FROM peertube_pages WHERE NOT EXISTS (
      SELECT 1 FROM source_schedules WHERE source = 'peertube:' || host AND asked_at >= ?
    )
    SQL;
    private const string INSTANCES = <<<'SQL'
    DELETE FROM peertube_instances WHERE NOT EXISTS (
      SELECT 1 FROM source_schedules WHERE source = 'peertube:' || host AND asked_at >= ?
    )
    SQL;

    public function __construct(private Database $database) {}

    /** @param int $now UTC seconds */
    public function forget(int $now): void
    {
        $this->database->transaction(function () use ($now): void {
            foreach (self::STATEMENTS as $statement) {
                $this->database->run($statement, [$now - self::KEPT_SECONDS]);
            }
        });
    }
}
