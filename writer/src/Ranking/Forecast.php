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
 * writer/fit/fit.py finds the two fitted constants; docs/ranking.md says how well they do.
 */
final class Forecast
{
    /** Is stored in generations.formula. A change of the formula or of a constant is a new version. */
    public const string VERSION = 'inverse-square-1';
    /** Fitted. */
    public const float TAPER_HOURS = 7.0;
    /** Fitted: how old a video is assumed to be when first seen, if its source does not say. */
    public const float ASSUMED_AGE_HOURS = 76.0;

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
        $ageStartsAt = self::ageStartsAt($velocity->firstObservedAt, $publishedAt);
        $rated = max(0.0, ($velocity->ratedAt - $ageStartsAt) / self::HOUR_SECONDS) + self::TAPER_HOURS;
        $age = max(0.0, ($now - $ageStartsAt) / self::HOUR_SECONDS) + self::TAPER_HOURS;
        $hours = $window->hours();

        return ($velocity->viewsPerHour * $hours * $rated * $rated) / ($age * ($age + $hours));
    }

    /**
     * The time that a video's age counts from, in UTC seconds: its publication, but not after it was first observed.
     * Without a time of publication it is ASSUMED_AGE_HOURS before the first observation.
     */
    public static function ageStartsAt(int $firstObservedAt, ?int $publishedAt): int
    {
        return $publishedAt === null
            ? $firstObservedAt - (int) (self::ASSUMED_AGE_HOURS * self::HOUR_SECONDS)
            : min($publishedAt, $firstObservedAt);
    }
}
