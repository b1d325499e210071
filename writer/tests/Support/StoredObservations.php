<?php

declare(strict_types=1);

namespace TrendVault\Writer\Tests\Support;

use TrendVault\Writer\Database\Database;
use TrendVault\Writer\Ingest\ObservationStore;
use TrendVault\Writer\Ingest\Outcome;
use TrendVault\Writer\Observations\Observation;

/** Puts observations into a database; what a test does not care about is filled in. */
final class StoredObservations
{
    public static function observation(
        string $videoId = 'video-1',
        string $region = 'GB',
        int $observedAt = FixedClock::NOON,
        int $views = 1000,
        ?string $channel = null,
        ?string $category = null,
        ?int $publishedAt = null,
        ?string $title = 'A title',
        ?string $url = null,
        ?string $language = null,
    ): Observation {
        return new Observation(
            videoId: $videoId,
            region: $region,
            observedAt: $observedAt,
            views: $views,
            title: $title,
            channel: $channel ?? "Channel of $videoId",
            thumbBase: "https://thumbs.example/$videoId",
            category: $category,
            language: $language,
            publishedAt: $publishedAt,
            url: $url,
        );
    }

    /**
     * @param list<Observation> $observations
     * @return list<Outcome>
     */
    public static function in(Database $database, array $observations): array
    {
        $store = new ObservationStore($database, FixedClock::NOON);
        $store->prepareFor($observations);

        return array_map($store->add(...), $observations);
    }
}
