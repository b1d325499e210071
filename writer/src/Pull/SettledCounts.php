<?php

declare(strict_types=1);

namespace TrendVault\Writer\Pull;

/** What settling minutes did: sums. */
final class SettledCounts
{
    public int $minutes = 0;
    public int $toldLooks = 0;
    public int $toldViews = 0;
    /** What the ceiling left of them. */
    public float $looks = 0.0;
    public float $views = 0.0;
    /** Counts of videos that the database does not have (any more). */
    public int $unknown = 0;

    public function add(int $toldLooks, int $toldViews, float $looks, float $views): void
    {
        $this->toldLooks += $toldLooks;
        $this->toldViews += $toldViews;
        $this->looks += $looks;
        $this->views += $views;
    }

    public function addAll(self $other): void
    {
        $this->add($other->toldLooks, $other->toldViews, $other->looks, $other->views);
        $this->minutes += $other->minutes;
        $this->unknown += $other->unknown;
    }

    /** The share of looks and views that the ceiling took away, from 0 to 1. */
    public function cutShare(): float
    {
        $told = $this->toldLooks + $this->toldViews;

        return $told === 0 ? 0.0 : max(0.0, 1 - ($this->looks + $this->views) / $told);
    }
}
