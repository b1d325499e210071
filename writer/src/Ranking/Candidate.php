<?php

declare(strict_types=1);

namespace TrendVault\Writer\Ranking;

/** A video that may get into a list. */
final readonly class Candidate
{
    public function __construct(
        public string $videoId,
        public string $channel,
        public float $score,
        public Velocity $velocity,
    ) {}
}
