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

    public function __construct(private readonly int $size) {}

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

    /** @return list<Candidate> by rank, at most `size` */
    public function ranked(): array
    {
        $this->sort();

        return array_slice(ChannelLimit::apply($this->candidates), 0, $this->size);
    }

    /**
     * Keeps the best, and the candidates that the channel limit moves into the first ranks: few channels may hold
     * all of the best. A candidate that is in neither cannot get into the list, whatever is added later.
     */
    private function dropUnreachable(): void
    {
        $this->sort();
        $first = ChannelLimit::first($this->candidates);
        $last = count($first) < ChannelLimit::WITHIN_RANKS ? null : end($first);
        $best = array_slice($this->candidates, 0, $this->size, true);
        $this->threshold = min($last->score ?? 0.0, end($best)->score);
        $this->candidates = array_values($best + $first);
    }
    /** The total order of every list: score, highest first, then id. PHP sorts columns ten times as fast as objects. */
    private function sort(): void
    {
        $scores = array_column($this->candidates, 'score');
        $ids = array_column($this->candidates, 'videoId');
        array_multisort($scores, SORT_DESC, SORT_NUMERIC, $ids, SORT_ASC, SORT_STRING, $this->candidates);
    }
}
