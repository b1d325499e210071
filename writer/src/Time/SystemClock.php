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
    #[Override]
    public function now(): DateTimeImmutable
    {
        return new DateTimeImmutable(timezone: new DateTimeZone('UTC'));
    }
}
