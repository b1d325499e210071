<?php

declare(strict_types=1);

namespace TrendVault\Writer\Pull;

/**
 * Bounds what a list may count: at most `factor` looks, and at most as many views, for each time that the edge served a
 * page with that rank, over the time in which its messages are taken. What exceeds it scales the page down as a whole, so
 * that views per look stay as they were told.
 */
final readonly class Ceiling
{
    /** @param float $factor 0 or more: other caches show lists that the edge does not see */
    public function __construct(private float $factor) {}

    /**
     * @param array<int, int> $told looks or views of one minute of one list, whichever are more, by rank
     * @param list<array{first_rank: int, last_rank: int, lists: int}> $pages served in the time
     * @param array<int, int> $used what earlier minutes of that time have counted, by rank
     * @return array<int, float> the share that counts, from 0 to 1, by rank
     */
    public function shares(array $told, array $pages, array $used): array
    {
        $starts = self::starts($pages);
        [$ofPage, $pageOf] = [[], []];
        foreach ($told as $rank => $count) {
            $page = $pageOf[$rank] = count(
                array_filter($starts, static fn(int $start): bool => $start <= $rank),
            );
            $allowed = max(0.0, $this->factor * self::listsWith($rank, $pages) - ($used[$rank] ?? 0));
            $ofPage[$page] = min($ofPage[$page] ?? 1.0, self::share($allowed, $count));
        }

        return array_map(static fn(int $page): float => $ofPage[$page], $pageOf);
    }

    /**
     * Where other pages begin: ranks between two of them were served by the same ones.
     *
     * @param list<array{first_rank: int, last_rank: int, lists: int}> $pages
     * @return list<int>
     */
    private static function starts(array $pages): array
    {
        $starts = [];
        foreach ($pages as ['first_rank' => $first, 'last_rank' => $last]) {
            $starts[$first] = $first;
            $starts[$last + 1] = $last + 1;
        }

        return array_values($starts);
    }

    /** @param list<array{first_rank: int, last_rank: int, lists: int}> $pages */
    private static function listsWith(int $rank, array $pages): int
    {
        $lists = 0;
        foreach ($pages as ['first_rank' => $first, 'last_rank' => $last, 'lists' => $served]) {
            $lists += $rank >= $first && $rank <= $last ? $served : 0;
        }

        return $lists;
    }

    /** Never so large that rounding exceeds what is allowed. */
    private static function share(float $allowed, int $told): float
    {
        $share = $told <= $allowed ? 1.0 : $allowed / $told;
        while ($share < 1.0 && $share * $told > $allowed && $share > 0.0) {
            $share *= 1 - PHP_FLOAT_EPSILON;
        }

        return $share;
    }
}
