<?php

declare(strict_types=1);

namespace TrendVault\Writer\Pull;

/** What was pulled: sums over answers. */
final class PulledCounts
{
    public int $lists = 0;
    public int $looks = 0;
    public int $views = 0;
    /** The part of them that came when their minute was settled without it. */
    public int $lateLooks = 0;
    public int $lateViews = 0;
    /** Minutes that the edge had deleted. */
    public int $lostMinutes = 0;

    public function add(int $looks, int $views, bool $isLate): void
    {
        $this->looks += $looks;
        $this->views += $views;
        $this->lateLooks += $isLate ? $looks : 0;
        $this->lateViews += $isLate ? $views : 0;
    }

    public function addAll(self $other): void
    {
        $this->lists += $other->lists;
        $this->looks += $other->looks;
        $this->views += $other->views;
        $this->lateLooks += $other->lateLooks;
        $this->lateViews += $other->lateViews;
        $this->lostMinutes += $other->lostMinutes;
    }
}
