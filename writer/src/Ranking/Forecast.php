<?php

declare(strict_types=1);

namespace TrendVault\Writer\Ranking;

/**
 * The views that a video will gain in the window ahead, if its rate goes on falling with the square of its age:
 *
 *     score = rate · w · (c + T)² / ((a + T) · (a + w + T))
 *
 * the integral of rate · ((c + T) / (x + T))² for x from a to a + w. The rate was measured when the video was
 * c hours old, it is a hours old now, w is the window; T, the taper, keeps a new one from falling at once.
 * docs/ranking.md says how the two fitted constants were found, and how well they do.
 */
final class Forecast
{
    /** Is stored in generations.formula. A change of the formula or of a constant is a new version. */
    public const string VERSION = 'inverse-square-1';
    /** Fitted. */
    public const float TAPER_HOURS = 7.0;

    private const int HOUR_SECONDS = 3600;

    /**
     * @param int $now UTC seconds
     * @return float views, never negative
     */
    public static function expectedViews(
        Velocity $velocity,
        ?int $publishedAt,
        Window $window,
        int $now,
    ): float {
        $ageStartsAt = Velocity::ageStartsAt($velocity->firstObservedAt, $publishedAt);
        $rated = max(0.0, ($velocity->ratedAt - $ageStartsAt) / self::HOUR_SECONDS) + self::TAPER_HOURS;
        $age = max(0.0, ($now - $ageStartsAt) / self::HOUR_SECONDS) + self::TAPER_HOURS;
        $hours = $window->hours();

        return ($velocity->viewsPerHour * $hours * $rated * $rated) / ($age * ($age + $hours));
    }
}

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
