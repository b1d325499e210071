<?php

declare(strict_types=1);

namespace TrendVault\Writer\Backtest;

use Closure;
use TrendVault\Writer\Observations\Observation;

/** Measures how well each day's ranking predicts the next day's gains, over all days of a recording. */
final readonly class BacktestRunner
{
    private const int DAY_SECONDS = 86_400;

    public function __construct(private Replay $replay) {}

    /**
     * @param list<Observation> $observations in any order; all of them are held in memory
     * @param int $from UTC seconds; days before are history only
     * @param Closure(float): void $progress is called with the share that is done, from 0 to 1
     * @return array<string, list<array<string, RankingQuality>>> by region, a day each, by formula
     */
    public function run(array $observations, int $from, Closure $progress): array
    {
        $days = self::byDay($observations);
        $results = $before = [];
        $done = $previous = 0;
        foreach ($days as $day => $ofDay) {
            $rankings = $this->replay->day($ofDay);
            foreach (
                $day - $previous === 1 && $previous * self::DAY_SECONDS >= $from ? $before : []
                as $region => $ranking
            ) {
                $quality = isset($rankings[$region]) ? $ranking->comparedWith($rankings[$region]) : [];
                $results[$region] = [...$results[$region] ?? [], ...$quality === [] ? [] : [$quality]];
            }
            [$before, $previous] = [$rankings, $day];
            $progress(++$done / count($days));
        }
        ksort($results);

        return array_filter($results);
    }

    /**
     * @param list<Observation> $observations
     * @return array<int, non-empty-list<Observation>> by UTC day since 1970, in order of time
     */
    private static function byDay(array $observations): array
    {
        usort(
            $observations,
            static fn(Observation $a, Observation $b): int => $a->observedAt <=> $b->observedAt,
        );
        $days = [];
        foreach ($observations as $observation) {
            $days[intdiv($observation->observedAt, self::DAY_SECONDS)][] = $observation;
        }

        return $days;
    }
}
