<?php

declare(strict_types=1);

namespace TrendVault\Writer\Ranking;

/** How a velocity changes from one observation to the next. docs/ranking.md derives it. */
final class VelocityModel
{
    /** How fast a new measurement replaces the rate. */
    public const float RATE_HALF_LIFE_HOURS = 1.0;
    public const float PREVIOUS_HALF_LIFE_HOURS = 6.0;
    /** The least age that a first rate divides by. */
    public const float MINIMUM_AGE_HOURS = 1.0;

    private const int HOUR_SECONDS = 3600;

    /** The first rate is the average since publication; Forecast::ageStartsAt() says what is assumed when that is unknown. */
    public static function first(int $observedAt, int $views, ?int $publishedAt): Velocity
    {
        $ageHours = ($observedAt - Forecast::ageStartsAt($observedAt, $publishedAt)) / self::HOUR_SECONDS;

        return new Velocity(
            firstObservedAt: $observedAt,
            lastObservedAt: $observedAt,
            observationCount: 1,
            views: $views,
            viewsPerHour: $views / max($ageHours, self::MINIMUM_AGE_HOURS),
            ratedAt: (float) $observedAt,
            previousViewsPerHour: null,
        );
    }

    /**
     * A count that goes down is a correction by the platform and counts as no gain, so a rate is never negative.
     *
     * @param int $observedAt after the last observation
     */
    public static function next(Velocity $before, int $observedAt, int $views): Velocity
    {
        $hours = ($observedAt - $before->lastObservedAt) / self::HOUR_SECONDS;
        $measured = max(0, $views - $before->views) / $hours;
        $kept = 2.0 ** (-$hours / self::RATE_HALF_LIFE_HOURS);
        $middle = $observedAt - ($hours * self::HOUR_SECONDS) / 2;

        return new Velocity(
            firstObservedAt: $before->firstObservedAt,
            lastObservedAt: $observedAt,
            observationCount: $before->observationCount + 1,
            views: $views,
            viewsPerHour: $kept * $before->viewsPerHour + (1 - $kept) * $measured,
            ratedAt: $kept * $before->ratedAt + (1 - $kept) * $middle,
            previousViewsPerHour: self::previous($before, $hours),
        );
    }

    private static function previous(Velocity $before, float $hours): float
    {
        $kept = 2.0 ** (-$hours / self::PREVIOUS_HALF_LIFE_HOURS);

        return $before->previousViewsPerHour === null
            ? $before->viewsPerHour
            : $kept * $before->previousViewsPerHour + (1 - $kept) * $before->viewsPerHour;
    }
}
