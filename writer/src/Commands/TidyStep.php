<?php

declare(strict_types=1);

namespace TrendVault\Writer\Commands;

use TrendVault\Writer\Cli\Context;
use TrendVault\Writer\Cli\PublishSettings;
use TrendVault\Writer\Publication\ObjectRetention;
use TrendVault\Writer\Publication\PointerPacks;
use TrendVault\Writer\Publication\Publications;
use TrendVault\Writer\Store\StoreFailure;

/** Every ten minutes: deletes what is old in the store, and packs the pointers of days that are over. */
final readonly class TidyStep
{
    private const int INTERVAL_SECONDS = 600;
    /** A bundle is asked for by those who have begun to read it. */
    private const int LEAST_BUNDLE_SECONDS = 3600;
    /** For each of the two, so that no run takes long: in ten minutes ten of each kind come. */
    private const int MOST_DELETED = 100;

    public function __construct(
        private Context $context,
        private PublishSettings $settings,
        private Publications $publications,
    ) {}

    /** @throws StoreFailure */
    public function run(): void
    {
        $now = $this->context->now();
        $last = $this->publications->get('tidied_at');
        if ($last !== null && $last <= $now && $last > $now - self::INTERVAL_SECONDS) {
            return;
        }
        $store = $this->settings->open();
        $pageSeconds = $this->context->settings->generationRetentionSeconds;
        $deleted = new ObjectRetention($store->client, [
            'generations/' => max(3600 * $this->settings->retentionHours, $pageSeconds),
            'bundles/' => max(self::LEAST_BUNDLE_SECONDS, $pageSeconds),
        ])->tidy(self::MOST_DELETED);
        $packed = new PointerPacks($store, $this->settings->reader(), $this->publications)->tidy(
            $now,
            self::MOST_DELETED,
        );
        if (max($deleted, $packed) < self::MOST_DELETED) {
            $this->publications->set(['tidied_at' => $now]);
        }
        if ($deleted + $packed > 0) {
            $this->context->log->info(
                "Tidied the store: $deleted old objects deleted, $packed pointers packed.",
                [
                    'event' => 'store_tidied',
                    'store' => $this->settings->store->name(),
                    'deleted' => $deleted,
                    'packed' => $packed,
                ],
            );
        }
    }
}
