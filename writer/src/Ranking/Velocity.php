<?php

declare(strict_types=1);

namespace TrendVault\Writer\Ranking;

/** How fast a video gains views in a region, and all else that the forecast knows of its history. Times are UTC seconds. */
final readonly class Velocity
{
    /** How fast a new measurement replaces the rate. */
    public const float RATE_HALF_LIFE_HOURS = 1.0;
    public const float PREVIOUS_HALF_LIFE_HOURS = 6.0;
    /** The least age that a first rate divides by. */
    public const float MINIMUM_AGE_HOURS = 1.0;
    /** Fitted: how old a video is assumed to be when first seen, if its source does not say. */
    public const float ASSUMED_AGE_HOURS = 76.0;

    /** What fromRow() reads, of the table velocity as y. */
    public const string COLUMNS = 'y.first_observed_at, y.last_observed_at, y.observation_count, y.views, y.views_per_hour, y.rated_at, y.previous_views_per_hour, y.levels';

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
        /** JSON of CountLevel while counts contradict each other, the level that counts first; null while they do not. */
        public ?string $levels = null,
    ) {}

    /** Of a video that was never observed. */
    public static function none(int $firstSeenAt): self
    {
        return new self($firstSeenAt, $firstSeenAt, 0, 0, 0.0, (float) $firstSeenAt, null);
    }

    /**
     * @param array{
     *   first_observed_at: int, last_observed_at: int, observation_count: int, views: int,
     *   views_per_hour: float, rated_at: float, previous_views_per_hour: ?float, levels: ?string, ...
     * } $row has at least COLUMNS, by name
     * @param ?int $now UTC seconds: a jump that no second count has confirmed is believed when it has waited until then
     */
    public static function fromRow(array $row, ?int $now = null): self
    {
        $velocity = new self(
            firstObservedAt: $row['first_observed_at'],
            lastObservedAt: $row['last_observed_at'],
            observationCount: $row['observation_count'],
            views: $row['views'],
            viewsPerHour: $row['views_per_hour'],
            ratedAt: $row['rated_at'],
            previousViewsPerHour: $row['previous_views_per_hour'],
            levels: $row['levels'],
        );

        return $now === null ? $velocity : $velocity->at($now);
    }

    /** The first rate is the average since publication; self::ageStartsAt() says what is assumed when that is unknown. */
    public static function first(int $observedAt, int $views, ?int $publishedAt): self
    {
        $ageHours = ($observedAt - self::ageStartsAt($observedAt, $publishedAt)) / 3600;

        return new self(
            firstObservedAt: $observedAt,
            lastObservedAt: $observedAt,
            observationCount: 1,
            views: $views,
            viewsPerHour: $views / max($ageHours, self::MINIMUM_AGE_HOURS),
            ratedAt: (float) $observedAt,
            previousViewsPerHour: null,
        );
    }

    /** @param int $observedAt after the last observation */
    public function next(int $observedAt, int $views): self
    {
        $hours = ($observedAt - $this->lastObservedAt) / 3600;
        $gain = $views - $this->views;
        if ($this->levels !== null || $gain < 0 || $gain > self::likely($this->viewsPerHour * $hours)) {
            return CountLevel::velocityAfter($this, $observedAt, $views);
        }
        [$rate, $ratedAt] = self::average(
            $this->viewsPerHour,
            $this->ratedAt,
            $this->lastObservedAt,
            $hours,
            $gain / $hours,
        );

        return new self(
            $this->firstObservedAt,
            $observedAt,
            $this->observationCount + 1,
            $views,
            $rate,
            $ratedAt,
            self::previous($this->previousViewsPerHour, $this->viewsPerHour, $hours),
        );
    }

    /**
     * With a jump that has waited for a second count for long enough.
     *
     * @param int $now UTC seconds
     */
    public function at(int $now): self
    {
        return $this->levels === null ? $this : CountLevel::velocityAt($this, $now);
    }

    /**
     * The time that a video's age counts from, in UTC seconds: its publication, but not after it was first observed.
     * Without a time of publication it is ASSUMED_AGE_HOURS before the first observation.
     */
    public static function ageStartsAt(int $firstObservedAt, ?int $publishedAt): int
    {
        return $publishedAt === null
            ? $firstObservedAt - (int) (self::ASSUMED_AGE_HOURS * 3600)
            : min($publishedAt, $firstObservedAt);
    }

    /** The largest gain that is no jump: twice the views that are expected, and what chance adds to few. */
    public static function likely(float $expected): float
    {
        return 2 * $expected + 3 * sqrt($expected) + 1;
    }

    /**
     * The rate, and the time that it is about, after some hours with a measured one.
     *
     * @param float $from when the hours began, in UTC seconds
     * @return array{float, float}
     */
    public static function average(
        float $rate,
        float $ratedAt,
        float $from,
        float $hours,
        float $measured,
    ): array {
        $kept = 2.0 ** (-$hours / self::RATE_HALF_LIFE_HOURS);

        return [
            $kept * $rate + (1 - $kept) * $measured,
            $kept * $ratedAt + (1 - $kept) * ($from + $hours * 1800),
        ];
    }

    public static function previous(?float $previous, float $rate, float $hours): float
    {
        $kept = 2.0 ** (-$hours / self::PREVIOUS_HALF_LIFE_HOURS);

        return $previous === null ? $rate : $kept * $previous + (1 - $kept) * $rate;
    }
}

/**
 * Counts that continue each other; a video has several levels while its counts contradict each other. Views never fall: a
 * count below another shows that one of the two errs. Each level has a rate of its own, and one of them counts;
 * docs/ranking.md ("Counts that err") says which. Rates are in views an hour, times in UTC seconds. Immutable.
 */
final readonly class CountLevel
{
    /** After so long a jump is believed without a second count: less than an hour, so that a list of that hour has it. */
    private const int DOUBT_SECONDS = 3300;
    /** A level is silent when so many counts, and so much time, went by without it. */
    private const int SILENT_COUNTS = 3;
    private const int SILENT_SECONDS = 3600;
    /** After so many it is forgotten, or after so much time when it is above the level that counts. */
    private const int FORGOTTEN_COUNTS = 12;
    private const int FORGOTTEN_SECONDS = 172_800;
    private const int PASSED_SECONDS = 21_600;
    /** A source may add the views of so many hours at once. */
    private const float LUMP_HOURS = 24.0;
    /** A burst goes on at this part of its first pace at least. */
    private const float GOES_ON = 0.125;
    /** The one that counts, and three others. */
    private const int MOST_LEVELS = 4;
    /** A count belongs to a level when it is this part of the way, or less, from there to the level that counts. */
    private const float NEAR = 0.125;

    /** Counts that differ by a smaller part may be one level with noise. */
    private const float CLOSE = 0.03;
    /** Noise is over after so many counts of which none fell. */
    private const int QUIET_READINGS = 12;
    /** How far a noisy count moves the level, in parts of their distance. */
    private const float TRUST = 0.125;
    /** A noisy level's rate is measured over so many times the noise, and so many hours at most. */
    private const float SPAN_NOISES = 4.0;
    private const float SPAN_HOURS = 24.0;
    private const float LONG_HOURS = 3.0;

    public function __construct(
        /** The last count, when that was, and how many there were. */
        public int $read,
        public int $readAt,
        public int $readings,
        public float $rate,
        public float $ratedAt,
        public ?float $previous,
        /** The last measured rate alone. */
        public float $pace,
        /** What the views are believed to be: the last count, but for noise. */
        public float $views,
        /** The difference between the largest and the smallest count of the same views. */
        public float $noise,
        public int $quiet,
        /** From where the rate is measured: the last count, but for noise. */
        public float $fromViews,
        public float $fromAt,
        public float $fromRate,
        public float $fromRatedAt,
        /** How many counts since the last one of this level were of others. */
        public int $missed = 0,
        /** Whether the level that counts was not read since this one began. */
        public bool $isNew = false,
        /** Whether it counted before the level that does now: when it is read again it counts again. */
        public bool $hasCounted = false,
        /** Whether the level that counts, or did, came from this one by a jump. */
        public bool $wasJumped = false,
    ) {}

    /** @param int $observedAt after the last observation */
    public static function velocityAfter(Velocity $before, int $observedAt, int $views): Velocity
    {
        $levels = self::readAll(self::ofVelocity($before), $observedAt, $views);

        return self::velocityOf($levels, $before, $observedAt, $before->observationCount + 1);
    }

    /**
     * With a jump that has waited for a second count for long enough.
     *
     * @param int $now UTC seconds
     */
    public static function velocityAt(Velocity $velocity, int $now): Velocity
    {
        $levels = self::ofVelocity($velocity);
        foreach ($levels as $level) {
            if (
                $levels[0]->missed === 1 &&
                $level->jumpsFrom($levels[0]) &&
                $now - $level->readAt >= self::DOUBT_SECONDS
            ) {
                return self::velocityOf(
                    [$levels[0]->gain($level->readAt, $level->read)],
                    $velocity,
                    $velocity->lastObservedAt,
                    $velocity->observationCount,
                );
            }
        }

        return $velocity;
    }

    /**
     * @param non-empty-list<self> $levels the one that counts first
     * @return non-empty-list<self>
     */
    private static function readAll(array $levels, int $at, int $views): array
    {
        $chosen = self::choose($levels, $at, $views);
        if ($chosen === null) {
            [$levels, $chosen] = self::withNoise($levels, $at, $views);
        }
        $main = $levels[0];
        $others = array_map(static fn(self $level): self => $level->missed(), $levels);
        unset($others[0], $others[$chosen ?? 0]);
        $settled = array_map(static fn(self $other): self => $other->change(isNew: false), $others);
        $level = $chosen === null ? $main->elsewhere($at, $views) : $levels[$chosen];
        $counted = $main->missed()->change(hasCounted: true);
        $result = match (true) {
            // What came between was no jump and no correction.
            $chosen === 0 => [$main->next($at, $views), ...$settled],
            $chosen !== null && $level->isBurst($main, $others, $at, $views) => [
                $main->gain($level->readAt, min($level->read, $views))->gain($at, $views),
                $counted->change(wasJumped: true),
                ...$settled,
            ],
            $chosen === null &&
                $level->jumpsFrom($main) &&
                $at - $main->readAt >=
                    ($level->isOfADay($main) ? self::DOUBT_SECONDS : 3600 * self::LONG_HOURS)
                => [$main->gain($at, $views), $counted->change(wasJumped: true), ...$settled],
            $chosen === null => [$main->missed(), ...$others, $level],
            $level->jumpsFrom($main) && $at - $main->readAt < self::DOUBT_SECONDS => [
                $main->missed(),
                $level,
                ...$others,
            ],
            // The jump was of new views: a count that falls back errs, until a second one does.
            $level->wasJumped && $level->missed >= self::SILENT_COUNTS => [
                $main->missed(),
                $level->next($at, $views)->change(isNew: true, hasCounted: false, wasJumped: true),
                ...$others,
            ],
            // A replica that lags has the same rate.
            $level->hasCounted || $level->isCloseTo($main->read) => [
                $level->after($main, $at, $views),
                $counted->change(hasCounted: $level->jumpsFrom($main)),
                ...$settled,
            ],
            $level->isNew || $main->readings === 1 || self::isSilent($counted, $at) => [
                $level->next($at, $views)->change(isNew: false),
                $counted->change(hasCounted: !$level->wasJumped),
                ...$settled,
            ],
            default => [$main->missed(), $level->next($at, $views), ...$others],
        };

        return self::remembered($result, $at);
    }

    /**
     * @param non-empty-list<self> $levels
     * @return ?int the index of the level that a count continues; null for none
     */
    private static function choose(array $levels, int $at, int $views): ?int
    {
        $main = $levels[0];
        if ($main->missed === 0 && $views >= $main->least() && $views <= $main->most($at)) {
            return 0;
        }
        [$nearest, $least] = [null, INF];
        foreach ($levels as $index => $level) {
            $apart = abs($main->read - $level->read);
            $most = $level->jumpsFrom($main)
                ? INF
                : max($level->most($at), $level->read + self::NEAR * $apart);
            $distance = abs($views - $level->expected($at));
            if ($distance < $least && $views >= $level->least() && $views <= $most) {
                [$nearest, $least] = [$index, $distance];
            }
        }

        return $nearest;
    }

    /**
     * Levels that lie close around a count that continues none are one level with noise.
     *
     * @param non-empty-list<self> $levels
     * @return array{non-empty-list<self>, ?int} and the index of that level; null where there is none
     */
    private static function withNoise(array $levels, int $at, int $views): array
    {
        $near = array_filter(
            $levels,
            static fn(self $level): bool => $level->isCloseTo($views) && $level->missed < self::SILENT_COUNTS,
        );
        $noise = max([0.0, ...array_column($near, 'noise')]);
        if ($near === [] || (count($near) === 1 && $noise === 0.0)) {
            return [$levels, null];
        }
        $counts = [$views, ...array_column($near, 'read')];
        $level = array_find($near, static fn(self $one): bool => $one->hasCounted) ?? reset($near);
        $chosen = (int) array_key_first($near);
        $levels =
            [
                $chosen => $level
                    ->change(isNew: false, hasCounted: false)
                    ->noisy($at, max($noise, max($counts) - min($counts)), (max($counts) + min($counts)) / 2),
            ] + array_diff_key($levels, $near);
        ksort($levels);

        return [array_values($levels), $chosen];
    }

    private static function isSilent(self $level, int $at): bool
    {
        return $level->missed >= self::SILENT_COUNTS && $at - $level->readAt >= self::SILENT_SECONDS;
    }

    /**
     * @param non-empty-list<self> $levels
     * @return non-empty-list<self>
     */
    private static function remembered(array $levels, int $at): array
    {
        $main = array_shift($levels);
        $levels = array_filter(
            $levels,
            static fn(self $level): bool => $level->missed < self::FORGOTTEN_COUNTS ||
                $at - $level->readAt <
                    ($level->expected($at) > $main->read ? self::FORGOTTEN_SECONDS : self::PASSED_SECONDS),
        );
        usort($levels, static fn(self $a, CountLevel $b): int => $b->readAt <=> $a->readAt);

        return [$main, ...array_slice($levels, 0, self::MOST_LEVELS - 1)];
    }

    /** @return non-empty-list<self> */
    private static function ofVelocity(Velocity $velocity): array
    {
        if ($velocity->levels === null) {
            return [self::of($velocity)];
        }
        /**
         * @var non-empty-list<array{
         *   int, int, int, float, float, ?float, float, float, float, int, float, float, float, float, int, bool, bool, bool,
         * }> $levels as velocity() wrote them
         */
        $levels = json_decode($velocity->levels, true, flags: JSON_THROW_ON_ERROR);

        return array_map(static fn(array $values): self => new self(...$values), $levels);
    }

    /** @param non-empty-list<self> $levels */
    private static function velocityOf(array $levels, Velocity $before, int $at, int $count): Velocity
    {
        [$main] = $levels;

        return new Velocity(
            $before->firstObservedAt,
            $at,
            $count,
            $main->read,
            $main->rate,
            $main->ratedAt,
            $main->previous,
            count($levels) === 1 && $main->noise === 0.0
                ? null
                : json_encode(
                    array_map(
                        static fn(self $level): array => array_values(get_object_vars($level)),
                        $levels,
                    ),
                    JSON_THROW_ON_ERROR,
                ),
        );
    }

    public static function of(Velocity $velocity): self
    {
        return self::at(
            $velocity->lastObservedAt,
            $velocity->views,
            $velocity->observationCount,
            $velocity->viewsPerHour,
            $velocity->ratedAt,
            $velocity->previousViewsPerHour,
            $velocity->viewsPerHour,
        );
    }

    /** A level that begins with a count that continues none; its rate is this one's. */
    public function elsewhere(int $at, int $views): self
    {
        // One first count is no more to be believed than the next.
        $share = $this->readings === 1 && $views < $this->read ? $views / $this->read : 1.0;

        return self::at(
            $at,
            $views,
            1,
            $share * $this->rate,
            $this->ratedAt,
            $this->previous,
            $this->pace,
        )->change(isNew: true);
    }

    private static function at(
        int $at,
        int $views,
        int $readings,
        float $rate,
        float $ratedAt,
        ?float $previous,
        float $pace,
    ): self {
        return new self(
            $views,
            $at,
            $readings,
            $rate,
            $ratedAt,
            $previous,
            $pace,
            $views,
            0.0,
            0,
            $views,
            $at,
            $rate,
            $ratedAt,
        );
    }

    public function change(int|float|bool ...$changes): self
    {
        // @mago-expect analysis:too-few-arguments (the properties are all that the constructor takes)
        return new self(...[...get_object_vars($this), ...$changes]);
    }

    public function missed(): self
    {
        return $this->change(missed: $this->missed + 1);
    }

    public function jumpsFrom(self $main): bool
    {
        return $this->isNew && $this->read > $main->read;
    }

    /**
     * Whether a jump was of new views: no more than a day brings, or more goes on to come; or the last one, which was not,
     * has not fallen back.
     *
     * @param array<self> $others
     */
    public function isBurst(self $main, array $others, int $at, int $views): bool
    {
        $jump = $this->read - $main->read;
        $pace = ($views - $this->read) / max(1, $at - $this->readAt);

        return $this->jumpsFrom($main) &&
            ($this->isOfADay($main) ||
                $pace >= (self::GOES_ON * $jump) / ($this->readAt - $main->readAt) ||
                array_any($others, static fn(self $other): bool => $other->hasCounted));
    }

    /** Whether the video gains so much in a day. */
    private function isOfADay(self $main): bool
    {
        return $this->read - $main->read <= Velocity::likely($main->rate * self::LUMP_HOURS);
    }

    public function isCloseTo(int $views): bool
    {
        return abs($views - $this->read) <= self::CLOSE * $this->read;
    }

    public function expected(int $at): float
    {
        return $this->views + $this->rate * $this->hours($at);
    }

    /** The smallest count that continues it. */
    public function least(): float
    {
        return $this->noise === 0.0 ? $this->read : $this->views - $this->noise;
    }

    /** The largest count that is no jump. */
    public function most(int $at): float
    {
        return max($this->read, $this->views + $this->noise) +
            Velocity::likely(max($this->rate, $this->pace) * $this->hours($at));
    }

    /** With a count that continues it. */
    public function next(int $at, int $views): self
    {
        if ($this->noise === 0.0) {
            return $this->gain($at, $views);
        }
        if ($this->read - $views > $this->noise) {
            $middle = ($this->read + $views) / 2;

            return $this->noisy($at, $this->read - $views, $middle)->measured($at, $views, $middle);
        }
        $quiet = $views < $this->read ? 0 : $this->quiet + 1;
        if ($quiet >= self::QUIET_READINGS) {
            return $this->noisy($at, 0.0, $views)->gain($at, $views);
        }
        $expected = $this->expected($at);
        $nearer = $expected + self::TRUST * ($views - $expected);

        return $this->change(quiet: $quiet)->measured(
            $at,
            $views,
            max($views - $this->noise / 2, min($views + $this->noise / 2, $nearer)),
        );
    }

    /** As next(), when another level counted meanwhile: a rate that is newer by a half-life is taken, unless it is another. */
    public function after(self $main, int $at, int $views): self
    {
        $level = $this->next($at, $views)->change(hasCounted: false);
        $ratio = $main->rate / max($level->rate, 1e-9);
        $newer = ($main->ratedAt - $level->ratedAt) / 3600;
        if ($newer <= Velocity::RATE_HALF_LIFE_HOURS || $ratio > 2 || $ratio < 0.5) {
            return $level;
        }

        return $level->change(
            rate: $main->rate,
            ratedAt: $main->ratedAt,
            fromRate: $main->rate,
            fromRatedAt: $main->ratedAt,
        );
    }

    /** The same rate at other views and with another noise. */
    public function noisy(int $at, float $noise, float $views): self
    {
        $by = $views - $this->expected($at);

        return $this->change(
            views: $this->views + $by,
            fromViews: $this->fromViews + $by,
            noise: $noise,
            quiet: 0,
        );
    }

    /** With a count, all of whose gain is of new views. */
    public function gain(int $at, int $views): self
    {
        return $this->measured($at, $views, $views)->change(isNew: false, hasCounted: false);
    }

    private function measured(int $at, int $read, float $views): self
    {
        $hours = ($at - $this->fromAt) / 3600;
        $gain = max(0.0, $views - $this->fromViews);
        $average = fn(float $part): array => Velocity::average(
            $this->fromRate,
            $this->fromRatedAt,
            $this->fromAt,
            $part * $hours,
            $gain / $hours,
        );
        [$rate, $ratedAt] = $average(1.0);
        $passed = match (true) {
            $this->noise === 0.0 => 1.0,
            $gain === 0.0 => max(0.0, 1 - self::SPAN_HOURS / $hours),
            default => max(
                0.0,
                1 - (self::SPAN_NOISES * $this->noise) / $gain,
                1 - self::SPAN_HOURS / $hours,
            ),
        };
        [$fromRate, $fromRatedAt] = $average($passed);

        return new self(
            $read,
            $at,
            $this->readings + 1,
            $rate,
            $ratedAt,
            Velocity::previous($this->previous, $this->rate, $this->hours($at)),
            max(0.0, $views - $this->views) / $this->hours($at),
            $views,
            $this->noise,
            $this->quiet,
            $this->fromViews + $passed * ($views - $this->fromViews),
            $this->fromAt + $passed * ($at - $this->fromAt),
            $fromRate,
            $fromRatedAt,
            isNew: $this->isNew,
            hasCounted: $this->hasCounted,
        );
    }

    private function hours(int $at): float
    {
        return ($at - $this->readAt) / 3600;
    }
}
