<?php

declare(strict_types=1);

namespace TrendVault\Writer\Ranking;

/**
 * A list while it is built: the best of any number of candidates, under the channel limit. Holds at most
 * 2 · size + ChannelLimit::WITHIN_RANKS candidates.
 */
final class TopList
{
    /** @var list<Candidate> */
    private array $candidates = [];
    /** A candidate with a lower score cannot get into the list. */
    private float $threshold = 0.0;

    public function __construct(public readonly int $size) {}

    /** False when a candidate with this score cannot get into the list. */
    public function admits(float $score): bool
    {
        return $score >= $this->threshold;
    }

    /** @param Candidate $candidate one whose score is admitted */
    public function add(Candidate $candidate): void
    {
        $this->candidates[] = $candidate;
        if (count($this->candidates) >= 2 * $this->size + ChannelLimit::WITHIN_RANKS) {
            $this->dropUnreachable();
        }
    }

    /** @return array<int, Candidate> by rank, at most `size`; the keys are the places without a limit by channel, exact below `size` */
    public function ranked(?Exploration $exploration = null): array
    {
        if ($exploration !== null) {
            return $exploration->ranked($this->candidates, $this->size);
        }
        $this->candidates = Candidate::sorted($this->candidates);

        return array_slice(ChannelLimit::apply($this->candidates), 0, $this->size, true);
    }

    /**
     * Keeps the best, and the candidates that the channel limit moves into the first ranks: few channels may hold
     * all of the best. A candidate that is in neither cannot get into the list, whatever is added later.
     */
    private function dropUnreachable(): void
    {
        $this->candidates = Candidate::sorted($this->candidates);
        $first = ChannelLimit::first($this->candidates);
        $last = count($first) < ChannelLimit::WITHIN_RANKS ? null : end($first);
        $best = array_slice($this->candidates, 0, $this->size, true);
        $this->threshold = min($last->score ?? 0.0, end($best)->score);
        $this->candidates = array_values($best + $first);
    }
}
