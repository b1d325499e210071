<?php

declare(strict_types=1);

namespace TrendVault\Writer\Ranking;

/** Keeps a channel from flooding the first page. */
final readonly class ChannelLimit
{
    public const int MOST_VIDEOS = 3;
    public const int WITHIN_RANKS = 24;

    /**
     * Moves what a channel has too many of behind the first ranks, where it keeps its order among the rest.
     * When there are not enough other channels to fill the first ranks, the list ends there:
     * the promise is about those ranks, so the rest has no rank to stand at.
     *
     * @param list<Candidate> $candidates in order
     * @return list<Candidate>
     */
    public static function apply(array $candidates): array
    {
        $first = self::first($candidates);

        return array_values(count($first) < self::WITHIN_RANKS ? $first : $first + $candidates);
    }

    /**
     * @param list<Candidate> $candidates in order
     * @return array<int, Candidate> who stands in the first ranks, by the place among all
     */
    public static function first(array $candidates): array
    {
        $first = $counts = [];
        foreach ($candidates as $place => $candidate) {
            $channel = "#$candidate->channel";
            $counts[$channel] = ($counts[$channel] ?? 0) + 1;
            if ($counts[$channel] <= self::MOST_VIDEOS) {
                $first[$place] = $candidate;
            }
            if (count($first) === self::WITHIN_RANKS) {
                break;
            }
        }

        return $first;
    }
}
