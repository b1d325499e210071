<?php

declare(strict_types=1);

namespace TrendVault\Writer\Ranking;

/** How far ahead a list looks. */
enum Window: string
{
    case Now = 'now';
    case Day = 'day';
    case Week = 'week';

    public function hours(): float
    {
        return match ($this) {
            self::Now => 6.0,
            self::Day => 24.0,
            self::Week => 168.0,
        };
    }
}
