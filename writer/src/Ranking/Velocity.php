<?php

declare(strict_types=1);

namespace TrendVault\Writer\Ranking;

/** The running state of a video in a market: all that the forecast knows of its history. Times are UTC seconds. */
final readonly class Velocity
{
    public function __construct(
        public int $firstObservedAt,
        public int $lastObservedAt,
        public int $observationCount,
        public int $views,
        public float $viewsPerHour,
        /** The moment that the rate is about: the weighted middle of what it averages. */
        public float $ratedAt,
        /** A slower average of earlier rates, for people to compare with; the forecast does not use it. */
        public ?float $previousViewsPerHour,
    ) {}
}
