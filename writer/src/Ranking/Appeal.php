<?php

declare(strict_types=1);

namespace TrendVault\Writer\Ranking;

/**
 * The chance that a visitor who looks at a video opens it falls with the video's age, as T / (age + T) does: T is the
 * forecast's taper, which was fitted on view rates.
 */
final class Appeal
{
    /** The share of a new video's appeal that is left. */
    public static function left(int $ageSeconds): float
    {
        return Forecast::TAPER_HOURS / (max(0, $ageSeconds) / 3600 + Forecast::TAPER_HOURS);
    }

    /** The mean of what is left over so many hours ahead. */
    public static function leftAhead(float $ageHours, float $hours): float
    {
        $age = $ageHours + Forecast::TAPER_HOURS;

        return (Forecast::TAPER_HOURS / $hours) * log(($age + $hours) / $age);
    }

    /** The integral of what was left since publication, in hours. */
    public static function spent(float $ageHours): float
    {
        return Forecast::TAPER_HOURS * log(1 + $ageHours / Forecast::TAPER_HOURS);
    }
}
