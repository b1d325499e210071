<?php

declare(strict_types=1);

namespace TrendVault\Writer\Sources\PeerTube;

/** What all instances may take together in a run, and what one of them may take of it. */
final class RunTime
{
    /** Time for one slow answer. */
    private const float LEAST_SHARE_SECONDS = 10.0;

    private readonly float $deadline;
    private float $shareEndsAt = 0.0;

    /** @param float $seconds for all instances, from now on */
    public function __construct(float $seconds)
    {
        $this->deadline = self::now() + $seconds;
        $this->shareEndsAt = $this->deadline;
    }

    /** Zero or less when the run is over. */
    public function secondsLeft(): float
    {
        return $this->deadline - self::now();
    }

    /** @param int $waiting how many instances are to be asked yet, with this one */
    public function beginShare(int $waiting): void
    {
        $share = max(self::LEAST_SHARE_SECONDS, $this->secondsLeft() / max(1, $waiting));
        $this->shareEndsAt = min($this->deadline, self::now() + $share);
    }

    /** Of the share that was begun last. */
    public function shareSecondsLeft(): float
    {
        return $this->shareEndsAt - self::now();
    }

    private static function now(): float
    {
        return hrtime(true) / 1e9;
    }
}
