<?php

declare(strict_types=1);

namespace TrendVault\Writer\Ranking;

/**
 * Decides how much a list of a region tries: candidates rank by a mixture of what they have earned and of the upper
 * bound of what they may be worth. Ranks that were not earned get at most a share of all looks.
 * Nothing is drawn at random: the same counts give the same list, and it changes gradually with them.
 */
final readonly class Exploration
{
    private const int HALVINGS = 6;

    /**
     * @param float $share of the looks that may go to ranks which were not earned, from 0 to 1
     * @param array<int, float> $looksByRank how many look at a rank, by rank group
     */
    public function __construct(private float $share, private array $looksByRank) {}

    /**
     * @param list<Candidate> $candidates
     * @return array<int, Candidate> by rank, at most `size`, under the channel limit; the keys are the places without it
     */
    public function ranked(array $candidates, int $size): array
    {
        $earned = self::order($candidates, 0.0, $size);
        $places = [];
        foreach (array_values($earned) as $index => $candidate) {
            $places["#$candidate->videoId"] = $index;
        }
        $marked = fn(float $degree): array => self::mark(self::order($candidates, $degree, $size), $places);
        if ($this->share <= 0.0 || array_sum($this->looksByRank) <= 0.0) {
            return $earned;
        }
        $list = $marked(1.0);
        if ($this->isWithinShare($list)) {
            return $list;
        }
        [$list, $low, $step] = [$earned, 0.0, 0.5];
        for ($halving = 0; $halving < self::HALVINGS; $halving++, $step /= 2) {
            $tried = $marked($low + $step);
            if ($this->isWithinShare($tried)) {
                [$list, $low] = [$tried, $low + $step];
            }
        }

        return $list;
    }

    /** @param array<int, Candidate> $list by rank */
    private function isWithinShare(array $list): bool
    {
        $all = $explored = 0.0;
        foreach (array_values($list) as $index => $candidate) {
            $looks = $this->looksByRank[RankGroup::of($index + 1)];
            $all += $looks;
            $explored += $candidate->isExplored ? $looks : 0.0;
        }

        return $explored <= $this->share * $all;
    }

    /**
     * @param list<Candidate> $candidates
     * @param float $degree 0 for what is earned, 1 for the upper bounds
     * @return array<int, Candidate> by rank
     */
    private static function order(array $candidates, float $degree, int $size): array
    {
        $scored = array_map(
            static fn(Candidate $candidate): Candidate => $candidate->explored($degree),
            $candidates,
        );

        return array_slice(ChannelLimit::apply(Candidate::sorted($scored)), 0, $size, true);
    }

    /**
     * @param array<int, Candidate> $list by rank
     * @param array<string, int> $places from 0, that were earned
     * @return array<int, Candidate>
     */
    private static function mark(array $list, array $places): array
    {
        foreach (array_keys($list) as $index => $key) {
            if ($index < ($places["#{$list[$key]->videoId}"] ?? PHP_INT_MAX)) {
                $list[$key] = $list[$key]->marked();
            }
        }

        return $list;
    }
}
