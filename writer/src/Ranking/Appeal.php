<?php

declare(strict_types=1);

namespace TrendVault\Writer\Ranking;

/** The chance that a visitor who looks at a video opens it, and how it falls with the video's age. */
final class Appeal
{
    /** The share of a new video's appeal that is left: T / (age + T), as the forecast's rate of one whose views fall. */
    public static function left(int $ageSeconds): float
    {
        $taper = 3600 * Forecast::TAPER_HOURS;

        return $taper / (max(0, $ageSeconds) + $taper);
    }
}
