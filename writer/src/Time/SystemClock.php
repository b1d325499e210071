<?php

declare(strict_types=1);

namespace TrendVault\Writer\Time;

use DateTimeImmutable;
use DateTimeZone;
use Override;
use Psr\Clock\ClockInterface;

/** The system's time, in UTC. */
final readonly class SystemClock implements ClockInterface
{
    /** How far another clock may be ahead of ours: a source's, the edge's, or this one's before it was set back. */
    public const int TOLERANCE_SECONDS = 300;

    #[Override]
    public function now(): DateTimeImmutable
    {
        return new DateTimeImmutable(timezone: new DateTimeZone('UTC'));
    }
}
