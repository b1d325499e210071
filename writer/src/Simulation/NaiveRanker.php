<?php

declare(strict_types=1);

namespace TrendVault\Writer\Simulation;

use Override;

/** Naive feedback: all views, those that the list causes too, with a half-life of three hours. */
final class NaiveRanker implements Ranker
{
    #[Override]
    public function ranked(array $videos, int $now): array
    {
        usort(
            $videos,
            static fn(SimulatedVideo $a, SimulatedVideo $b): int => $b->recentViews <=> $a->recentViews ?:
            strcmp($a->id, $b->id),
        );

        return $videos;
    }
}
