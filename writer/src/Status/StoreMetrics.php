<?php

declare(strict_types=1);

namespace TrendVault\Writer\Status;

use TrendVault\Writer\Database\Database;

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
