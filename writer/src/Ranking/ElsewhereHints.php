<?php

declare(strict_types=1);

namespace TrendVault\Writer\Ranking;

/** What counts from elsewhere say of a video's appeal here, compared with the other videos of the region. */
final class ElsewhereHints
{
    /**
     * How much of a difference elsewhere is one here: the slope of ln(appeal here) on ln(views elsewhere). Below 1,
     * because popular elsewhere is not the same as wanted here, and the extremes elsewhere are partly luck.
     */
    private const float SLOPE = 0.67;
    /** The views by which the rate since publication holds against the recent one. */
    private const float LIFE_VIEWS = 5.0;
    private const float LARGEST = 20.0;
    /** The variance of ln(appeal here) among videos that are viewed as much elsewhere. */
    private const float VARIANCE = 0.36;

    /**
     * A recent rate of few views is noise: it is a Poisson count over the mean time that the rate averages over, with the
     * rate since publication as its Gamma prior, and that one has the region's mean as its own.
     *
     * @param list<Contender> $contenders
     * @return list<float> the factor on the prior chance, 1 for a video that nobody counts elsewhere
     */
    public static function of(array $contenders): array
    {
        $views = $spent = 0.0;
        $lives = [];
        foreach ($contenders as $index => $contender) {
            if ($contender->isCounted()) {
                $lives[$index] = Appeal::spent($contender->ageHours($contender->velocity->lastObservedAt));
                $views += $contender->velocity->views;
                $spent += $lives[$index];
            }
        }
        $hints = array_fill(0, count($contenders), 1.0);
        if ($views <= 0.0 || $spent <= 0.0) {
            return $hints;
        }
        $logs = [];
        foreach ($lives as $index => $life) {
            $logs[$index] = log(self::rate($contenders[$index], $life, $views / $spent));
        }
        $mean = array_sum($logs) / count($logs);
        foreach ($logs as $index => $log) {
            $hints[$index] = min(self::LARGEST, max(1 / self::LARGEST, exp(self::SLOPE * ($log - $mean))));
        }

        return $hints;
    }

    /**
     * Grows where few views are counted elsewhere: their Gamma distribution adds about 1 / (views + 1) to the variance
     * of ln(views elsewhere).
     *
     * @param float $surprise standard deviations
     * @return float the most that the appeal may be, in parts of its prior; no bound for a video that nobody counts
     */
    public static function bound(Contender $contender, float $surprise): float
    {
        $variance = self::VARIANCE + self::SLOPE ** 2 / ($contender->velocity->views + 1);

        return $contender->isCounted() ? exp($surprise * sqrt($variance)) : INF;
    }

    /** @return float views per hour as if the video were new */
    private static function rate(Contender $contender, float $life, float $mean): float
    {
        $velocity = $contender->velocity;
        $sinceBirth = ($velocity->views + 1) / ($life + 1 / $mean);
        $hours = VelocityModel::RATE_HALF_LIFE_HOURS / M_LN2;
        $left = Appeal::left((int) (3600 * $contender->ageHours($velocity->ratedAt)));

        return (self::LIFE_VIEWS + $hours * $velocity->viewsPerHour) /
            (self::LIFE_VIEWS / $sinceBirth + $hours * $left);
    }
}
