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
        $first = $after = $counts = [];
        foreach ($candidates as $candidate) {
            $channel = "#$candidate->channel";
            if (count($first) < self::WITHIN_RANKS && ($counts[$channel] ?? 0) < self::MOST_VIDEOS) {
                $first[] = $candidate;
                $counts[$channel] = ($counts[$channel] ?? 0) + 1;
            } else {
                $after[] = $candidate;
            }
        }

        return count($first) < self::WITHIN_RANKS ? $first : [...$first, ...$after];
    }
}
