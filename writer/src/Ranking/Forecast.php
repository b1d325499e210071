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

/** How fast a video gains views in a region, and all else that the forecast knows of its history. Times are UTC seconds. */
final readonly class Velocity
{
    /** What fromRow() reads, of the table velocity as y. */
    public const string COLUMNS = 'y.first_observed_at, y.last_observed_at, y.observation_count, y.views, y.views_per_hour, y.rated_at, y.previous_views_per_hour';

    public function __construct(
        public int $firstObservedAt,
        public int $lastObservedAt,
        public int $observationCount,
        public int $views,
        public float $viewsPerHour,
        /** The time that the rate is about: the weighted mean of the times that it averages over. UTC seconds. */
        public float $ratedAt,
        /** A slower average of earlier rates, shown for comparison; the forecast does not use it. */
        public ?float $previousViewsPerHour,
    ) {}

    /** Of a video that was never observed. */
    public static function none(int $firstSeenAt): self
    {
        return new self($firstSeenAt, $firstSeenAt, 0, 0, 0.0, (float) $firstSeenAt, null);
    }

    /**
     * @param array{
     *   first_observed_at: int, last_observed_at: int, observation_count: int, views: int,
     *   views_per_hour: float, rated_at: float, previous_views_per_hour: ?float, ...
     * } $row has at least COLUMNS, by name
     */
    public static function fromRow(array $row): self
    {
        return new self(
            firstObservedAt: $row['first_observed_at'],
            lastObservedAt: $row['last_observed_at'],
            observationCount: $row['observation_count'],
            views: $row['views'],
            viewsPerHour: $row['views_per_hour'],
            ratedAt: $row['rated_at'],
            previousViewsPerHour: $row['previous_views_per_hour'],
        );
    }
}

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
