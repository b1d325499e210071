<?php

declare(strict_types=1);

namespace TrendVault\Writer\Simulation;

/** What a list gave, step by step. */
final class SimulationResult
{
    /** @var list<array{hour: float, value: float}> */
    public array $steps = [];
    /** The best rank that the pushed video reached; null when none was pushed. */
    public ?int $pushedTo = null;
    private float $given = 0.0;
    private float $best = 0.0;
    private float $recalls = 0.0;
    private int $measured = 0;
    private float $pushedRanks = 0.0;
    private int $pushedSteps = 0;

    /**
     * The values over time, as the mean of runs with other seeds.
     *
     * @param non-empty-list<self> $runs of the same world
     */
    public static function meanOf(array $runs): self
    {
        $mean = new self();
        foreach ($runs[0]->steps as $index => ['hour' => $hour]) {
            $values = array_map(static fn(self $run): float => $run->steps[$index]['value'], $runs);
            $mean->steps[] = ['hour' => $hour, 'value' => array_sum($values) / count($values)];
        }

        return $mean;
    }

    /**
     * @param float $given views that a load of the list gives
     * @param float $best views that a load of the best list gives
     * @param int|false|null $pushedIndex of the pushed video in the list, false when it is not in it, null when none is
     */
    public function add(
        float $hour,
        bool $isMeasured,
        float $given,
        float $best,
        float $recall,
        int|false|null $pushedIndex,
    ): void {
        $this->steps[] = ['hour' => $hour, 'value' => $given / $best];
        if ($isMeasured) {
            $this->given += $given;
            $this->best += $best;
            $this->recalls += $recall;
            $this->measured++;
        }
        if ($pushedIndex !== null) {
            $rank = ($pushedIndex === false ? 500 : $pushedIndex) + 1;
            $this->pushedTo = min($this->pushedTo ?? $rank, $rank);
            $this->pushedRanks += 1 / $rank;
            $this->pushedSteps++;
        }
    }

    /** Views that the list gave, in parts of those of the best order, on the measured days. */
    public function value(): float
    {
        return $this->given / $this->best;
    }

    /** The share of the 24 best videos that are in the first 24 ranks. */
    public function recall(): float
    {
        return $this->recalls / $this->measured;
    }

    /** The harmonic mean of the pushed video's ranks; null when none was pushed. */
    public function pushedMeanRank(): ?float
    {
        return $this->pushedSteps === 0 ? null : $this->pushedSteps / $this->pushedRanks;
    }
}
