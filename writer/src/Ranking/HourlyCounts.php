<?php

declare(strict_types=1);

namespace TrendVault\Writer\Ranking;

/**
 * How often a video had been viewed at full hours, in hours since 1970: between the observations on both sides of an
 * hour, in proportion to time.
 */
final readonly class HourlyCounts
{
    /** A sparkline of 24 hours needs 25; a generation that is read a little later one or two more. */
    public const int HOURS = 27;

    private const int HOUR_SECONDS = 3600;
    /** Between observations that are further apart nobody knows when the views came. */
    private const int MAX_GAP_SECONDS = 3 * self::HOUR_SECONDS;

    /**
     * @param int $hour the last one
     * @param list<?int> $views up to that hour, oldest first; null where nobody counted
     */
    public function __construct(public int $hour, public array $views) {}

    /**
     * These counts and those of the hours that have come since.
     *
     * @param int $hour the last one, not before this one
     * @param list<array{observed_at: int, views: int, ...}> $observations newest first, with those on both sides of each hour
     */
    public function until(int $hour, array $observations): self
    {
        $counts = self::between($observations);
        $views = $this->views;
        for ($next = $this->hour + 1; $next <= $hour; $next++) {
            $views[] = $counts[$next] ?? null;
        }

        return new self($hour, array_slice($views, -self::HOURS));
    }

    /**
     * @param list<array{observed_at: int, views: int, ...}> $observations newest first
     * @return array<int, int> by hour
     */
    private static function between(array $observations): array
    {
        $counts = [];
        foreach ($observations as $index => ['observed_at' => $at, 'views' => $views]) {
            if ($at % self::HOUR_SECONDS === 0) {
                $counts[intdiv($at, self::HOUR_SECONDS)] = $views;
            }
            ['observed_at' => $from, 'views' => $less] = $observations[$index + 1] ?? $observations[$index];
            $hours = $at - $from > self::MAX_GAP_SECONDS ? 0 : intdiv($at, self::HOUR_SECONDS);
            for ($hour = intdiv($from, self::HOUR_SECONDS) + 1; $hour <= $hours; $hour++) {
                $share = ($hour * self::HOUR_SECONDS - $from) / ($at - $from);
                $counts[$hour] = $less + (int) round(($views - $less) * $share);
            }
        }

        return $counts;
    }
}
