<?php

declare(strict_types=1);

namespace TrendVault\Writer\Ranking;

/** A published ranking. */
final readonly class Generation
{
    public function __construct(
        public int $id,
        public int $publishedAt,
        public int $videoCount,
        public int $rowCount,
        /** Velocities that do not rank, because their newest observation is of the future. */
        public int $futureCount,
    ) {}
}
