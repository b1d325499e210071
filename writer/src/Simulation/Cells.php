<?php

declare(strict_types=1);

namespace TrendVault\Writer\Simulation;

use Closure;

/** The worlds of the table, and its lines. */
final class Cells
{
    public const string HEAD = " elsewhere  loads/h   value (least)  recall@24  naive\n";

    private const array ELSEWHERE_SHARES = [0.0, 0.2, 0.8];
    private const array LOADS_PER_HOUR = [2000.0, 20_000.0, 200_000.0];

    /** @return list<World> */
    public static function of(World $world): array
    {
        $worlds = [];
        foreach (self::ELSEWHERE_SHARES as $share) {
            foreach (self::LOADS_PER_HOUR as $loads) {
                $worlds[] = $world->with(['elsewhere_share' => $share, 'loads_per_hour' => $loads]);
            }
        }

        return $worlds;
    }

    /**
     * @param array<string, Ranker> $rankers by label
     * @param list<int> $seeds
     * @param Closure(float): mixed $progress
     * @return array<string, list<SimulationResult>> by label, one a seed
     */
    public static function run(World $world, array $rankers, array $seeds, Closure $progress): array
    {
        $results = [];
        $done = 0;
        $all = count($seeds) * count($rankers);
        foreach ($rankers as $label => $ranker) {
            foreach ($seeds as $seed) {
                $results[$label][] = new ClosedLoop($world, $ranker, $seed)->run(
                    static fn(float $share) => $progress(($done + $share) / $all),
                );
                $done++;
            }
        }

        return $results;
    }

    /** @param array<string, list<SimulationResult>> $cell by label */
    public static function line(World $world, array $cell): string
    {
        $values = array_map(static fn(SimulationResult $one): float => $one->value(), $cell['ours']);
        $pushed = $cell['ours'][0]->pushedTo;

        return sprintf(
            "%9.0f%% %8s   %.3f (%.3f)  %9.3f  %.3f%s\n",
            100 * $world->elsewhereShare,
            number_format($world->loadsPerHour),
            array_sum($values) / count($values),
            min($values),
            self::mean($cell['ours'], static fn(SimulationResult $one): float => $one->recall()),
            self::mean($cell['naive'], static fn(SimulationResult $one): float => $one->value()),
            $pushed === null ? '' : '  pushed to rank (best, mean): ' . self::pushes($cell),
        );
    }

    /** @param array<string, list<SimulationResult>> $cell by label */
    private static function pushes(array $cell): string
    {
        $texts = [];
        foreach ($cell as $label => [$result]) {
            $texts[] = sprintf('%s %d, %.0f', $label, $result->pushedTo, $result->pushedMeanRank());
        }

        return implode('; ', $texts);
    }

    /**
     * @param list<SimulationResult> $results
     * @param Closure(SimulationResult): float $of
     */
    private static function mean(array $results, Closure $of): float
    {
        return array_sum(array_map($of, $results)) / count($results);
    }
}
