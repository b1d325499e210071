<?php

declare(strict_types=1);

namespace TrendVault\Writer\Ranking;

/** Ranks that are looked at alike: the first ones alone, the lower ones together. A group's name is its first rank. */
final class RankGroup
{
    public const array FIRST_RANKS = [1, 2, 3, 4, 5, 6, 8, 10, 13, 17, 21, 25, 33, 49, 97];

    /** @param int $rank from 1 */
    public static function of(int $rank): int
    {
        $group = 1;
        foreach (self::FIRST_RANKS as $first) {
            if ($first > $rank) {
                break;
            }
            $group = $first;
        }

        return $group;
    }
}
