<?php

declare(strict_types=1);

namespace TrendVault\Writer\Backtest;

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
