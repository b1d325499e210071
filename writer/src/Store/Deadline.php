<?php

declare(strict_types=1);

namespace TrendVault\Writer\Store;

/** Until when everything has to be done, by a clock that is never set. */
final readonly class Deadline
{
    private float $at;

    public function __construct(public float $seconds)
    {
        $this->at = hrtime(true) / 1e9 + $seconds;
    }

    /** Zero or less when nothing is left. */
    public function secondsLeft(): float
    {
        return $this->at - hrtime(true) / 1e9;
    }
}
