<?php

declare(strict_types=1);

namespace TrendVault\Writer\Ranking;

/** The best candidates of any number, without holding more than twice as many as are wanted. */
final class TopList
{
    /** @var list<Candidate> */
    private array $candidates = [];
    /** Scores below cannot get in. */
    private float $threshold = 0.0;

    public function __construct(private readonly int $size)
    {
    }

    public function admits(float $score): bool
    {
        return $score >= $this->threshold;
    }

    public function add(Candidate $candidate): void
    {
        $this->candidates[] = $candidate;
        if (count($this->candidates) >= 2 * $this->size) {
            $this->candidates = $this->best();
            $this->threshold = $this->candidates[$this->size - 1]->score;
        }
    }

    /** @return list<Candidate> in order, at most as many as wanted */
    public function best(): array
    {
        usort($this->candidates, Candidate::compare(...));

        return array_slice($this->candidates, 0, $this->size);
    }
}
