<?php

declare(strict_types=1);

namespace TrendVault\Writer\Ranking;

/** A list as it is published. */
final readonly class RankedList
{
    /**
     * @param string $category '' for all categories together
     * @param list<Candidate> $candidates by rank, from 1 without gaps
     */
    public function __construct(
        public string $region,
        public Window $window,
        public string $category,
        public array $candidates,
    ) {}
}
