<?php

declare(strict_types=1);

namespace TrendVault\Writer\Ranking;

/** What visitors of a region's lists did with a video, and what the ranking made of it. */
final readonly class LookParts
{
    public function __construct(
        /** At the video, older ones counted less. */
        public float $looks,
        /** Of the video, from the lists. */
        public float $views,
        /** How much looks weigh against the forecast in this region, from 0 to 1. */
        public float $weight,
        public AppealEstimate $appeal,
    ) {}
}
