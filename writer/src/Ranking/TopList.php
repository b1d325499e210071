<?php

declare(strict_types=1);

namespace TrendVault\Writer\Ranking;

/**
 * A list while it is made: the best of any number of candidates, under the channel limit. Holds no more than
 * twice as many as are wanted, and a page.
 */
final class TopList
{
    /** @var list<Candidate> */
    private array $candidates = [];
    /** Scores below cannot get in. */
    private float $threshold = 0.0;

    public function __construct(private readonly int $size) {}

    public function admits(float $score): bool
    {
        return $score >= $this->threshold;
    }

    public function add(Candidate $candidate): void
    {
        $this->candidates[] = $candidate;
        if (count($this->candidates) >= 2 * $this->size + ChannelLimit::WITHIN_RANKS) {
            $this->dropHopeless();
        }
    }

    /** @return list<Candidate> by rank, at most as many as wanted */
    public function ranked(): array
    {
        usort($this->candidates, Candidate::compare(...));

        return array_slice(ChannelLimit::apply($this->candidates), 0, $this->size);
    }

    /**
     * Besides the best, those stay that the channel limit has moved into the first ranks: few channels may hold
     * all of the best. Who is in neither cannot get there any more, whoever comes.
     */
    private function dropHopeless(): void
    {
        usort($this->candidates, Candidate::compare(...));
        $first = ChannelLimit::first($this->candidates);
        $last = count($first) < ChannelLimit::WITHIN_RANKS ? null : end($first);
        $best = array_slice($this->candidates, 0, $this->size, true);
        $this->threshold = min($last->score ?? 0.0, end($best)->score);
        $this->candidates = array_values($best + $first);
    }
}
