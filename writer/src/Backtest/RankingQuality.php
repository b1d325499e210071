<?php

declare(strict_types=1);

namespace TrendVault\Writer\Backtest;

/** Recall and NDCG of a ranking, measured against the views that its videos gained. */
final readonly class RankingQuality
{
    /** The first page. */
    public const int RANKS = 24;

    public function __construct(public float $recall, public float $ndcg) {}

    /**
     * Recall: of the RANKS videos that gained most, the share that is in the first RANKS of the ranking.
     * NDCG with ln(1 + views gained) as the gain and 1 / log2(rank + 1) as the discount (Järvelin and Kekäläinen, 2002).
     * Ties are ordered by id, in both rankings.
     *
     * @param non-empty-list<array{id: string, score: float, gained: int}> $videos
     */
    public static function of(array $videos): self
    {
        $named = self::first($videos, 'score');
        $ideal = self::first($videos, 'gained');
        $hits = array_intersect(array_column($named, 'id'), array_column($ideal, 'id'));
        $best = self::discountedGain($ideal);

        return new self(count($hits) / count($ideal), $best > 0 ? self::discountedGain($named) / $best : 1.0);
    }

    /** @param non-empty-list<self> $qualities */
    public static function mean(array $qualities): self
    {
        return new self(
            array_sum(array_column($qualities, 'recall')) / count($qualities),
            array_sum(array_column($qualities, 'ndcg')) / count($qualities),
        );
    }

    /**
     * @param list<array{id: string, score: float, gained: int}> $videos
     * @return list<array{id: string, score: float, gained: int}>
     */
    private static function first(array $videos, string $by): array
    {
        usort(
            $videos,
            static fn(array $a, array $b): int => $b[$by] <=> $a[$by] ?: strcmp($a['id'], $b['id']),
        );

        return array_slice($videos, 0, self::RANKS);
    }

    /** @param list<array{id: string, score: float, gained: int}> $videos in order */
    private static function discountedGain(array $videos): float
    {
        $sum = 0.0;
        foreach ($videos as $index => ['gained' => $gained]) {
            $sum += log1p($gained) / log($index + 2, 2);
        }

        return $sum;
    }
}
