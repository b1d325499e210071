<?php

declare(strict_types=1);

namespace TrendVault\Writer\Ranking;

/** A list as it is published. */
final readonly class RankedList
{
    /** @var list<Candidate> by rank, from 1 without gaps */
    public array $candidates;
    /** @var list<int> by rank: the places in the order without a limit by channel, from 0 */
    private array $places;

    /**
     * @param string $category '' for all categories together
     * @param array<int, Candidate> $ranked by rank; the keys are the places that they have without a limit by channel
     * @param int $size the most ranks that the list may have
     */
    public function __construct(
        public string $region,
        public Window $window,
        public string $category,
        array $ranked,
        private int $size,
    ) {
        $this->candidates = array_values($ranked);
        $this->places = array_keys($ranked);
    }

    /** @return array<int, ?int> by rank, where it differs: the rank without the limit by channel, null beyond the list's end */
    public function limitedRanks(): array
    {
        $ranks = [];
        foreach ($this->places as $index => $place) {
            if ($place !== $index) {
                $ranks[$index + 1] = $place < $this->size ? $place + 1 : null;
            }
        }

        return $ranks;
    }
}
