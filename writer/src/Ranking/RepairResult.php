<?php

declare(strict_types=1);

namespace TrendVault\Writer\Ranking;

/** What a repair did. A velocity is that of a video in a region. */
final readonly class RepairResult
{
    public function __construct(
        public int $futureObservations,
        public int $rebuiltVelocities,
        public int $deletedVelocities,
    ) {}
}
