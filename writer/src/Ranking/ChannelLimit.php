<?php

declare(strict_types=1);

namespace TrendVault\Writer\Ranking;

/** Limits how many videos of one channel are on the first page. */
final readonly class ChannelLimit
{
    public const int MAX_VIDEOS = 3;
    public const int WITHIN_RANKS = 24;

    /**
     * Moves the videos above a channel's limit behind the first ranks, where they keep their order.
     * When there are not enough other channels to fill the first ranks, the list ends early:
     * any further video would get one of these ranks and break the limit.
     *
     * @param list<Candidate> $candidates in order
     * @return array<int, Candidate> by rank; the keys are their places before, from 0
     */
    public static function apply(array $candidates): array
    {
        $first = self::first($candidates);

        return count($first) < self::WITHIN_RANKS ? $first : $first + $candidates;
    }

    /**
     * @param list<Candidate> $candidates in order
     * @return array<int, Candidate> those in the first ranks, by index in the list
     */
    public static function first(array $candidates): array
    {
        $first = $counts = [];
        foreach ($candidates as $index => $candidate) {
            $channel = "#$candidate->channel";
            $counts[$channel] = ($counts[$channel] ?? 0) + 1;
            if ($counts[$channel] <= self::MAX_VIDEOS) {
                $first[$index] = $candidate;
            }
            if (count($first) === self::WITHIN_RANKS) {
                break;
            }
        }

        return $first;
    }
}
