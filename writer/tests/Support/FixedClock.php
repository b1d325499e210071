<?php

declare(strict_types=1);

namespace TrendVault\Writer\Tests\Support;

use DateTimeImmutable;
use Override;
use Psr\Clock\ClockInterface;

/** A clock that a test sets. */
final class FixedClock implements ClockInterface
{
    /** 2025-11-20T12:00:00Z */
    public const int NOON = 1_763_640_000;

    public function __construct(public int $now = self::NOON) {}

    #[Override]
    public function now(): DateTimeImmutable
    {
        return new DateTimeImmutable("@$this->now");
    }
}
