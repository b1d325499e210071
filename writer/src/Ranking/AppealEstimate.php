<?php

declare(strict_types=1);

namespace TrendVault\Writer\Ranking;

/** The appeal of a video when it was new: the chance that a visitor who looks at it at the first rank opens it. */
final readonly class AppealEstimate
{
    public function __construct(
        /** Before any look was counted: from the region, and from the counts elsewhere. */
        public float $prior,
        /** With what was counted. */
        public float $mean,
        /** An upper bound, higher for a video of which less is known: what a video ranks by that is to be tried. */
        public float $upper,
        /** Whether looks say more than elsewhere lets them: the mean is held at a multiple of the prior. */
        public bool $isHeld,
    ) {}
}
