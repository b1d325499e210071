<?php

declare(strict_types=1);

namespace TrendVault\Writer\Ranking;

/** What visitors did in one minute with a video at a rank of a list. Increments, already scaled by the ceiling. */
final readonly class CountedLooks
{
    public function __construct(
        /** The end of the minute, UTC seconds. */
        public int $countedAt,
        public string $region,
        public string $videoId,
        /** The rank in the list, from 1. */
        public int $rank,
        /** To how many visitors the rank was on screen. */
        public float $looks,
        /** How many opened the video. */
        public float $views,
    ) {}
}
