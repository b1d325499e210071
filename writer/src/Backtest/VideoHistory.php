<?php

declare(strict_types=1);

namespace TrendVault\Writer\Backtest;

use TrendVault\Writer\Observations\Observation;
use TrendVault\Writer\Ranking\Forecast;

/** A video in a region as it was known on a day: the last observation of each day until then. */
final class VideoHistory
{
    private const int HOUR_SECONDS = 3600;

    /** @var non-empty-list<Observation> in order of time */
    private array $observations;

    public function __construct(Observation $first)
    {
        $this->observations = [$first];
    }

    /** @param Observation $later of a later day; one of the same day replaces the last */
    public function add(Observation $later, bool $sameDay): void
    {
        if ($sameDay) {
            array_pop($this->observations);
        }
        $this->observations[] = $later;
    }

    public function last(): Observation
    {
        return $this->observations[count($this->observations) - 1];
    }

    /** On how many days the video was observed. */
    public function days(): int
    {
        return count($this->observations);
    }

    /** Null when there is no such day. */
    public function daysBefore(int $days): ?Observation
    {
        return $this->observations[count($this->observations) - 1 - $days] ?? null;
    }

    /** The newest observation that is at least so many hours older than the last one. */
    public function hoursBefore(float $hours): ?Observation
    {
        return array_find(
            array_reverse($this->observations),
            fn(Observation $one): bool => $this->hoursBetween($one, $this->last()) >= $hours,
        );
    }

    public function hoursBetween(Observation $earlier, Observation $later): float
    {
        return ($later->observedAt - $earlier->observedAt) / self::HOUR_SECONDS;
    }

    /** UTC seconds. Every formula gets the same assumption about videos without a time of publication. */
    public function ageStartsAt(): int
    {
        return Forecast::ageStartsAt($this->observations[0]->observedAt, $this->last()->publishedAt);
    }

    public function ageHours(): float
    {
        return ($this->last()->observedAt - $this->ageStartsAt()) / self::HOUR_SECONDS;
    }
}
