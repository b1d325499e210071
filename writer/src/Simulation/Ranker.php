<?php

declare(strict_types=1);

namespace TrendVault\Writer\Simulation;

/** What orders the list in a simulation. */
interface Ranker
{
    /**
     * @param list<SimulatedVideo> $videos
     * @param int $now UTC seconds
     * @return list<SimulatedVideo> by rank
     */
    public function ranked(array $videos, int $now): array;
}
