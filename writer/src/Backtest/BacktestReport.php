<?php

declare(strict_types=1);

namespace TrendVault\Writer\Backtest;

use Closure;
use TrendVault\Writer\Observations\Observation;
use TrendVault\Writer\Ranking\Forecast;

/** The result of a backtest as a table or as JSON. */
final readonly class BacktestReport
{
    /** @var array<string, array<string, RankingQuality>> by region and formula, the mean over days */
    private array $means;
    /** @var array<string, int> by region */
    private array $days;

    /** @param array<string, list<array<string, RankingQuality>>> $results by region, a day each, by formula */
    public function __construct(array $results)
    {
        $this->days = array_map(count(...), $results);
        $this->means = array_map(
            static fn(array $days): array => array_combine(
                array_keys($days[0]),
                array_map(
                    static fn(string $formula): RankingQuality => RankingQuality::mean(
                        array_column($days, $formula),
                    ),
                    array_keys($days[0]),
                ),
            ),
            $results,
        );
    }

    /** A table for each region, the best formula first. */
    public function text(): string
    {
        $text = '';
        foreach ($this->means as $region => $means) {
            uasort($means, static fn(RankingQuality $a, RankingQuality $b): int => $b->recall <=> $a->recall);
            $text .= sprintf(
                "%-26s %9s  %7s\n",
                "$region, {$this->days[$region]} days",
                'recall@' . RankingQuality::RANKS,
                'NDCG@' . RankingQuality::RANKS,
            );
            foreach ($means as $formula => $mean) {
                $label = $formula === Replay::OURS ? 'ours, ' . Forecast::VERSION : $formula;
                $text .= sprintf("%-26s %9.3f  %7.4f\n", $label, $mean->recall, $mean->ndcg);
            }
            $text .= "\n";
        }

        return rtrim($text, "\n") . "\n";
    }

    /** One object, with the formulas of each region. */
    public function json(): string
    {
        $regions = array_map(
            fn(string $region, array $means): array => [
                'region' => $region,
                'days' => $this->days[$region],
                'formulas' => array_map(
                    static fn(string $formula, RankingQuality $mean): array => [
                        'formula' => $formula,
                        'recall_at_24' => $mean->recall,
                        'ndcg_at_24' => $mean->ndcg,
                    ],
                    array_keys($means),
                    $means,
                ),
            ],
            array_keys($this->means),
            $this->means,
        );

        return json_encode(
            ['version' => Forecast::VERSION, 'regions' => $regions],
            JSON_PRETTY_PRINT | JSON_UNESCAPED_SLASHES | JSON_THROW_ON_ERROR,
        ) . "\n";
    }
}

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
        /** @var array<string, list<array<string, RankingQuality>>> $results */
        $results = [];
        /** @var array<string, DayRanking> $before */
        $before = [];
        $done = $previous = 0;
        foreach ($days as $day => $ofDay) {
            $rankings = $this->replay->day($ofDay);
            foreach (
                $day - $previous === 1 && $previous * self::DAY_SECONDS >= $from ? $before : []
                as $region => $ranking
            ) {
                $quality = isset($rankings[$region]) ? $ranking->comparedWith($rankings[$region]) : [];
                if ($quality !== []) {
                    $results[$region][] = $quality;
                }
            }
            [$before, $previous] = [$rankings, $day];
            $progress(++$done / count($days));
        }
        ksort($results);

        return $results;
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
