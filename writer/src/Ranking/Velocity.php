<?php

declare(strict_types=1);

namespace TrendVault\Writer\Ranking;

/** How fast a video gains views in a region, and all else that the forecast knows of its history. Times are UTC seconds. */
final readonly class Velocity
{
    /** What fromRow() reads, of the table velocity as y. */
    public const string COLUMNS = 'y.first_observed_at, y.last_observed_at, y.observation_count, y.views, y.views_per_hour, y.rated_at, y.previous_views_per_hour';

    public function __construct(
        public int $firstObservedAt,
        public int $lastObservedAt,
        public int $observationCount,
        public int $views,
        public float $viewsPerHour,
        /** The time that the rate is about: the weighted mean of the times that it averages over. UTC seconds. */
        public float $ratedAt,
        /** A slower average of earlier rates, shown for comparison; the forecast does not use it. */
        public ?float $previousViewsPerHour,
    ) {}

    /** Of a video that was never observed. */
    public static function none(int $firstSeenAt): self
    {
        return new self($firstSeenAt, $firstSeenAt, 0, 0, 0.0, (float) $firstSeenAt, null);
    }

    /**
     * @param array{
     *   first_observed_at: int, last_observed_at: int, observation_count: int, views: int,
     *   views_per_hour: float, rated_at: float, previous_views_per_hour: ?float, ...
     * } $row has at least COLUMNS, by name
     */
    public static function fromRow(array $row): self
    {
        return new self(
            firstObservedAt: $row['first_observed_at'],
            lastObservedAt: $row['last_observed_at'],
            observationCount: $row['observation_count'],
            views: $row['views'],
            viewsPerHour: $row['views_per_hour'],
            ratedAt: $row['rated_at'],
            previousViewsPerHour: $row['previous_views_per_hour'],
        );
    }
}
