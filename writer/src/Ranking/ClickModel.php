<?php

declare(strict_types=1);

namespace TrendVault\Writer\Ranking;

use TrendVault\Writer\Editorial\Ruling;

/**
 * What a region's impressions and clicks say of each video's click-through rate. Clicks on a video are Poisson:
 *
 *     clicks ~ Poisson(impressions · bias(rank) · rate · left(age)),   left(age) = T / (age + T),   rate ~ Gamma
 *
 * T, the course, is each video's own, of a grid from half an hour to never. How many of a region's videos have which one
 * follows from the marginal likelihood of the counts, a negative binomial (Laird, JASA 1978), and a video's own counts
 * say which one it is likely to have. The bias is not assumed, either: the same videos stand at several ranks, which
 * tells it apart from their rates (Agarwal et al., WSDM 2019). What a list shows depends only on what was counted, so
 * that its choice does not distort the estimates (Rubin, Biometrika 1976).
 */
final class ClickModel
{
    /** Is added to generations.formula where impressions took part. */
    public const string VERSION = 'clicks-7';
    /** From so many impressions on, what is learned from them ranks alone; before, together with the forecast. */
    public const float FULL_WEIGHT_IMPRESSIONS = 3000.0;
    /** The rate of a new video before anything was counted, worth as many videos as PRIOR_VIDEOS. */
    public const float PRIOR_RATE = 0.04;

    /**
     * By how many standard deviations impressions may exceed what elsewhere implies: the most that false messages can do
     * for a video that is counted elsewhere.
     */
    private const float SURPRISE = 3.0;

    /**
     * The list of the next hours is made anew many times before they are over, and is worth most when it is ordered by
     * what is wanted first.
     */
    private const float NOW_HOURS = 0.5;
    /** For so many hours at most, knowledge of a video is thought to be useful. */
    public const float HORIZON_HOURS = 200.0;

    public const float PRIOR_VIDEOS = 5.0;
    /** A course under which videos would be opened more often at birth is thought of with this mean at first. */
    private const float HIGH_RATE = 0.1;
    /** Of the prior of a video: rates have a heavy tail, and what is looked for stands in it. */
    private const float SHAPE = 0.5;
    private const float LEAST_TAPER_HOURS = 0.5;
    private const int TAPERS = 12;
    private const float NEVER = 1e6;
    /** Bursts and drift make the likelihood too sure: its logarithm is divided by this. */
    private const float TEMPER = 4.0;
    /** What is assumed of the shares weighs as much as so many videos; of as many nothing is assumed. */
    private const float COURSE_VIDEOS = 5.0;
    private const int COURSE_ROUNDS = 2;
    private const int COURSE_STEPS = 10;
    /** A course that fewer videos have is left out. */
    private const float LEAST_SHARE = 0.01;
    /** Of a video, courses that are less likely are left out. */
    private const float LEAST_LIKELY = 1e-4;
    /** The courses are learned from so many videos at most: those whose ids have the least checksums. */
    private const int SAMPLE = 600;
    private const int MEAN_STEPS = 3;
    private const int BIAS_STEPS = 8;
    private const float PRIOR_BIAS_CLICKS = 50.0;
    /** Views in a window. */
    private const float LEAST_FORECAST = 0.001;
    /** Where no impressions are counted, what nobody counts has a score in these parts: below that least forecast. */
    private const float UNCOUNTED = 1e-6;
    private const float LEAST_BIAS = 0.01;
    public const float LARGEST_RATE = 0.95;
    /** Counts at an age of a fraction of today's weigh this power of it: memory grows with a video's age. */
    private const float FORGETTING = 0.5;
    private const float LEAST_AGE_HOURS = 0.5;
    /** A burst is an excess of more standard deviations: there are many videos and hours. */
    private const float BURST_DEVIATIONS = 5.0;
    /** So many recent clicks prove no burst: a hundred senders get some 240 counted around a full hour, 360 at most. */
    private const float FALSE_CLICKS = 400.0;
    /** What this share of the videos exceed is the most that one of them teaches: false counts are often the largest. */
    private const float LARGER_SHARE = 0.05;
    /** In the prior's mean a rate counts as so many times that mean at most. */
    private const float LARGEST_MULTIPLE = 8.0;

    /**
     * @var array<int, list<array{int, float, float, float, float, float, int}>> rank group, impressions, clicks, age in hours,
     *   the recent part of impressions and clicks, age group; by contender, in the order of the age groups
     */
    private array $counts = [];
    /** @var array<int, float> from 1 down, by rank group */
    private array $bias;
    /**
     * @var list<array{float, float, float, float}> share of the videos, taper in hours, the prior's mean, ln(likelihood)
     *   before any exposure; the largest share first
     */
    private array $courses = [];
    private float $impressions = 0.0;
    private float $clicks = 0.0;
    /** Of the first rank. */
    private readonly float $perHour;
    /** @var list<float> */
    private array $hints;
    /** @var list<float> the most that a rate may be, in parts of its prior */
    private readonly array $bounds;
    /** How much of a difference elsewhere is one here, from 0 to 1. */
    public readonly float $trust;

    /**
     * @param list<Contender> $contenders
     * @param int $now UTC seconds
     */
    public function __construct(
        private readonly array $contenders,
        private readonly int $now,
        Traffic $traffic,
    ) {
        $this->perHour = max(1.0, $traffic->perHour(1));
        $this->bias = array_fill_keys(RankGroup::FIRST_RANKS, 1.0);
        $this->hints = array_fill(0, count($contenders), 1.0);
        $this->readCounts();
        $sample = $this->sample();
        $this->learnCourses($sample);
        $elsewhere = new ElsewhereHints($contenders, $this->taper());
        $this->hints = $elsewhere->factors();
        $atBirth = $this->atBirth($sample);
        $isBiased = $this->learnBias($atBirth);
        $this->learnTrust($elsewhere, $atBirth);
        $this->hints = $elsewhere->factors();
        if ($isBiased || array_any($this->hints, static fn(float $hint): bool => $hint !== 1.0)) {
            $this->learnCourses($sample);
        }
        $this->trust = $elsewhere->trust;
        $this->bounds = array_map(
            static fn(int $index): float => $elsewhere->bound($index, self::SURPRISE),
            array_keys($contenders),
        );
    }

    /** How much impressions weigh against the forecast: 0 without any, 1 from FULL_WEIGHT_IMPRESSIONS on. */
    public function weight(): float
    {
        return min(1.0, $this->impressions / self::FULL_WEIGHT_IMPRESSIONS);
    }

    /** Of all videos, older ones counted less. */
    public function clicks(): float
    {
        return $this->clicks;
    }

    /** @return array<int, float> by rank group, 1 for the first rank */
    public function bias(): array
    {
        return $this->bias;
    }

    /** Over all courses that the video may have, as one Gamma distribution with its mean and variance. */
    public function rate(int $index): ClickRate
    {
        $age = $this->contenders[$index]->ageHours($this->now);
        $forgotten = $this->burst($index, $age);

        return $this->mixture(
            $age,
            $this->hints[$index],
            $this->bounds[$index],
            $this->weighted($index, $age, 1 - $forgotten),
            $forgotten,
        );
    }

    /** As rate(), for a video that is none of the contenders: nobody has seen it here, or counted it elsewhere. */
    public function rateOfUnknown(Contender $video): ClickRate
    {
        return $this->mixture($video->ageHours($this->now), 1.0, INF, [], 0.0);
    }

    /** @param list<array{float, float, float}> $counts see weighted() */
    private function mixture(
        float $age,
        float $hint,
        float $bound,
        array $counts,
        float $forgotten,
    ): ClickRate {
        [$shape, $exposures, $weights] = $this->likely($counts, $hint);
        $prior = $mean = $square = $life = 0.0;
        $now = $day = $week = 0.0;
        [$dayHours, $weekHours] = [Window::Day->hours(), Window::Week->hours()];
        foreach ($this->courses as $course => [$share, $taper, $priorMean]) {
            $spent = $age + $taper;
            $left = $taper / $spent;
            $prior += $share * $priorMean * $hint * $left;
            $weight = $weights[$course];
            if ($weight < self::LEAST_LIKELY) {
                continue;
            }
            $exposure = $exposures[$course];
            $one = ($shape / $exposure) * $left;
            $some = $weight * $one;
            $mean += $some;
            $square += $some * ($one + $left / $exposure);
            $life += $weight * log($spent);
            // The mean over the hours ahead, in parts of what is left now.
            $now += $some * (($spent / self::NOW_HOURS) * log1p(self::NOW_HOURS / $spent));
            $day += $some * (($spent / $dayHours) * log1p($dayHours / $spent));
            $week += $some * (($spent / $weekHours) * log1p($weekHours / $spent));
        }
        $largest = min(self::LARGEST_RATE, $bound * $prior);
        $held = min(1.0, $largest / $mean);

        return new ClickRate(
            min(self::LARGEST_RATE, $prior),
            $held * $mean,
            $held * sqrt(max(1e-14, $square - $mean * $mean)),
            $mean > $bound * $prior,
            exp($life),
            [$held * $now, $held * $day, $held * $week],
            $forgotten,
        );
    }

    /**
     * What a video's counts say of its course and its rate at birth, a Gamma distribution under each course.
     *
     * @param list<array{float, float, float}> $counts see weighted()
     * @return array{float, list<float>, list<float>} shape; exposure and how likely it is, by course
     */
    private function likely(array $counts, float $hint): array
    {
        $shape = self::SHAPE;
        foreach ($counts as [, $clicks]) {
            $shape += $clicks;
        }
        $exposures = $weights = [];
        $most = -INF;
        foreach ($this->courses as [, $taper, $priorMean, $log]) {
            $exposure = self::SHAPE / ($priorMean * $hint);
            $split = 0.0;
            foreach ($counts as [$impressions, $clicks, $countedAge]) {
                $left = $taper / ($countedAge + $taper);
                $exposure += $impressions * $left;
                if ($clicks > 0.0) {
                    $split += $clicks * log($left);
                }
            }
            $weights[] = $log += ($split - $shape * log($exposure)) / self::TEMPER;
            $exposures[] = $exposure;
            $most = $log > $most ? $log : $most;
        }
        $all = 0.0;
        foreach ($weights as $course => $log) {
            $all += $weights[$course] = exp($log - $most);
        }
        foreach ($weights as $course => $weight) {
            $weights[$course] = $weight / $all;
        }

        return [$shape, $exposures, $weights];
    }

    /**
     * @param list<float> $logs by course
     * @return list<float> what they are the logarithms of, in parts of the sum
     */
    private static function shareOut(array $logs): array
    {
        $most = max([-INF, ...$logs]);
        $parts = array_map(static fn(float $log): float => exp($log - $most), $logs);
        $all = array_sum($parts);

        return array_map(static fn(float $part): float => $part / $all, $parts);
    }

    /** Views in the window ahead of a video with that rate; the unit is the one of docs/ranking.md. */
    public function score(Contender $contender, ClickRate $rate, Window $window): float
    {
        $weight = $this->weight();
        $clicks = $window->hours() * $rate->ahead($window);
        if ($weight === 1.0) {
            return $this->perHour * $clicks;
        }
        $isCounted = $contender->isCounted();
        $forecast = $isCounted
            ? Forecast::expectedViews($contender->velocity, $contender->publishedAt, $window, $this->now)
            : ($clicks * $rate->prior) / $rate->mean;
        if ($weight === 0.0) {
            // What nobody counts comes after what gets no views, too, and the newest first.
            return $isCounted ? max(self::LEAST_FORECAST, $forecast) : self::UNCOUNTED * $forecast;
        }

        return max(self::LEAST_FORECAST, $forecast) ** (1 - $weight) * ($this->perHour * $clicks) ** $weight;
    }

    /** Hours in which the rate of a new video falls by half: the geometric mean of what is thought possible. */
    private function taper(): float
    {
        $log = 0.0;
        foreach ($this->courses as [$weight, $taper]) {
            $log += $weight * log($taper);
        }

        return exp($log);
    }

    private function readCounts(): void
    {
        $sums = [];
        foreach ($this->contenders as $index => $contender) {
            $ageStartsAt = $contender->ageStartsAt();
            foreach ($contender->counts as $some) {
                $age = $this->now - $some->countedAt;
                $kept = ClickCounts::kept($age);
                $recent = ClickCounts::kept($age, ClickCounts::RECENT_HALF_LIFE_HOURS);
                // Who opened it saw it, also where a message does not say so: a rate has no more clicks than impressions.
                $impressions = $kept * max($some->impressions, $some->clicks);
                $sums[$index] = ($sums[$index] ?? 0.0) + $impressions;
                $this->clicks += $kept * $some->clicks;
                $this->counts[$index][] = [
                    $some->rankGroup,
                    $impressions,
                    $kept * $some->clicks,
                    $some->ageHoursFrom($ageStartsAt),
                    $recent * max($some->recentImpressions, $some->recentClicks),
                    $recent * $some->recentClicks,
                    $some->ageGroup,
                ];
            }
            if (count($contender->counts) > 1) {
                usort(
                    $this->counts[$index],
                    static fn(array $one, array $other): int => $one[6] <=> $other[6],
                );
            }
        }
        foreach (self::bounded($sums) as $index => $part) {
            $this->impressions += $part * $sums[$index];
        }
    }

    /**
     * @param array<int, float> $sizes of what each video would teach
     * @return array<int, float> the part of it that does, so that it is no more than what LARGER_SHARE of them exceed
     */
    private static function bounded(array $sizes): array
    {
        $sorted = $sizes;
        rsort($sorted);
        $most = $sorted[min(count($sizes) - 1, (int) ceil(self::LARGER_SHARE * count($sizes)))] ?? 0.0;

        return array_map(static fn(float $size): float => $size > $most ? $most / $size : 1.0, $sizes);
    }

    /** @return list<int> contenders that were seen */
    private function sample(): array
    {
        $sample = array_keys($this->counts);
        if (count($sample) <= self::SAMPLE) {
            return $sample;
        }
        $checksums = array_map(fn(int $index): int => crc32($this->contenders[$index]->videoId), $sample);
        array_multisort($checksums, $sample);

        return array_slice($sample, 0, self::SAMPLE);
    }

    /**
     * Expectation maximisation over which video has which course; it begins with what all have if they have one.
     *
     * @param list<int> $sample
     */
    private function learnCourses(array $sample): void
    {
        $tapers = [];
        for ($step = 0; $step < self::TAPERS; $step++) {
            $tapers[] = self::LEAST_TAPER_HOURS * 2 ** $step;
        }
        $tapers[] = self::NEVER;
        [$counts, $clicks] = $this->byAge($sample);
        $under = $means = [];
        $mean = self::PRIOR_RATE;
        foreach ($tapers as $taper) {
            $under[] = [$exposures] = $this->underCourse($taper, $counts);
            for ($step = 0; $step < self::MEAN_STEPS; $step++) {
                $mean = self::meanRate($mean, $exposures, $clicks);
            }
            // Old videos alone say little of their course: then it is not one under which nearly all would open a new video.
            $means[] = min(self::HIGH_RATE, $mean);
        }
        $shares = $before = [];
        for ($round = 0; $round < self::COURSE_ROUNDS; $round++) {
            $logs = self::logLikelihoods($under, $means, $clicks);
            if ($round === 0) {
                $shares = $before = self::sharesOfOne($logs);
            }
            $likelihoods = array_map(self::shareOut(...), $logs);
            for ($step = 0; $step < self::COURSE_STEPS; $step++) {
                $shares = self::shares($shares, $before, $likelihoods);
            }
            $means = self::means($means, $shares, $likelihoods, $under, $clicks);
        }
        $shares = array_filter($shares, static fn(float $share): bool => $share >= self::LEAST_SHARE);
        arsort($shares);
        $all = array_sum($shares);
        $this->courses = [];
        foreach ($shares as $course => $share) {
            $share /= $all;
            // The factor of a video's hint is the same for all courses, and cancels.
            $log = log($share) + (self::SHAPE * log(self::SHAPE / $means[$course])) / self::TEMPER;
            $this->courses[] = [$share, $tapers[$course], $means[$course], $log];
        }
    }

    /**
     * @param list<array{list<float>, list<float>}> $under see underCourse(), by course
     * @param list<float> $means by course
     * @param list<float> $clicks by video
     * @return array<int, non-empty-list<float>> ln(likelihood) of its clicks, by video and course
     */
    private static function logLikelihoods(array $under, array $means, array $clicks): array
    {
        $logs = [];
        foreach ($under as $course => [$exposures, $splits]) {
            $rate = self::SHAPE / $means[$course];
            $whole = self::SHAPE * log($rate);
            foreach ($exposures as $video => $exposure) {
                $log = $splits[$video] + $whole - (self::SHAPE + $clicks[$video]) * log($rate + $exposure);
                $logs[$video][] = $log / self::TEMPER;
            }
        }

        return $logs;
    }

    /**
     * How likely each course is where all videos have the same one. Each video counts as bounded() says: a million false
     * impressions say no more than the next video's true ones.
     *
     * @param array<int, non-empty-list<float>> $logs see logLikelihoods()
     * @return list<float> by course
     */
    private static function sharesOfOne(array $logs): array
    {
        $parts = self::bounded(
            array_map(static fn(array $ofVideo): float => max($ofVideo) - min($ofVideo), $logs),
        );
        $sums = array_fill(0, self::TAPERS + 1, 0.0);
        foreach ($logs as $video => $ofVideo) {
            foreach ($ofVideo as $course => $log) {
                $sums[$course] += $parts[$video] * $log;
            }
        }
        $any = self::COURSE_VIDEOS / count($sums);

        return array_map(
            static fn(float $share): float => (count($logs) * $share + $any) /
                (count($logs) + self::COURSE_VIDEOS),
            self::shareOut($sums),
        );
    }

    /**
     * A step of expectation maximisation.
     *
     * @param list<float> $shares of the videos, by course
     * @param list<float> $before what is assumed of them
     * @param array<int, list<float>> $likelihoods by video and course
     * @return list<float>
     */
    private static function shares(array $shares, array $before, array $likelihoods): array
    {
        $videos = array_map(static fn(float $share): float => self::COURSE_VIDEOS * $share, $before);
        foreach ($likelihoods as $ofVideo) {
            $sum = 0.0;
            foreach ($ofVideo as $course => $likelihood) {
                $sum += $shares[$course] * $likelihood;
            }
            foreach ($ofVideo as $course => $likelihood) {
                $videos[$course] += ($shares[$course] * $likelihood) / $sum;
            }
        }
        $all = array_sum($videos);

        return array_map(static fn(float $some): float => $some / $all, $videos);
    }

    /**
     * @param list<float> $means by course
     * @param list<float> $shares
     * @param array<int, list<float>> $likelihoods by video and course
     * @param list<array{list<float>, list<float>}> $under see underCourse(), by course
     * @param list<float> $clicks by video
     * @return list<float> the mean rate of the videos that are likely to have each course
     */
    private static function means(
        array $means,
        array $shares,
        array $likelihoods,
        array $under,
        array $clicks,
    ): array {
        $parts = [];
        foreach ($likelihoods as $ofVideo) {
            $sum = 0.0;
            foreach ($ofVideo as $course => $likelihood) {
                $sum += $shares[$course] * $likelihood;
            }
            foreach ($ofVideo as $course => $likelihood) {
                $parts[$course][] = ($shares[$course] * $likelihood) / $sum;
            }
        }
        foreach ($parts as $course => $ofVideos) {
            $means[$course] = self::meanRate($means[$course], $under[$course][0], $clicks, $ofVideos);
        }

        return $means;
    }

    /**
     * A step of expectation maximisation.
     *
     * @param list<float> $exposures by video
     * @param list<float> $clicks
     * @param ?list<float> $parts of each video that count; null for all of each
     */
    private static function meanRate(
        float $mean,
        array $exposures,
        array $clicks,
        ?array $parts = null,
    ): float {
        [$sum, $videos] = [self::PRIOR_VIDEOS * self::PRIOR_RATE, self::PRIOR_VIDEOS];
        $rate = self::SHAPE / $mean;
        $most = self::LARGEST_MULTIPLE * $mean;
        foreach ($exposures as $video => $exposure) {
            $part = $parts[$video] ?? 1.0;
            $one = (self::SHAPE + $clicks[$video]) / ($rate + $exposure);
            $sum += $part * ($one < $most ? $one : $most);
            $videos += $part;
        }

        return $sum / $videos;
    }

    /**
     * @param list<int> $sample
     * @return array{array<int, list<array{float, float, float}>>, list<float>} impressions that count as such at the first
     *   rank, clicks and age; all clicks; by video
     */
    private function byAge(array $sample): array
    {
        $counts = $clicks = [];
        foreach ($sample as $index) {
            $counts[$index] = $this->weighted($index, null);
            $clicks[] = array_sum(array_column($counts[$index], 1));
        }

        return [$counts, $clicks];
    }

    /**
     * @param array<int, list<array{float, float, float}>> $counts see byAge()
     * @return array{list<float>, list<float>} impressions that count as such at birth, and what the clicks' ages add to
     *   the ln(likelihood); by video
     */
    private function underCourse(float $taper, array $counts): array
    {
        $exposures = $splits = [];
        foreach ($counts as $video => $ages) {
            $exposure = $split = 0.0;
            foreach ($ages as [$impressions, $clicks, $age]) {
                $left = $taper / ($age + $taper);
                $exposure += $impressions * $left;
                $split += $clicks > 0.0 ? $clicks * log($left) : 0.0;
            }
            $exposures[] = $exposure * $this->hints[$video];
            $splits[] = $split;
        }

        return [$exposures, $splits];
    }

    /**
     * @param list<int> $sample
     * @return array<int, non-empty-array<int, array{float, float}>> impressions, as if the video were new under the learned
     *   course, and clicks; by contender and rank group
     */
    private function atBirth(array $sample): array
    {
        $atBirth = [];
        foreach ($sample as $index) {
            foreach ($this->counts[$index] as [$group, $impressions, $clicks, $age]) {
                $left = 0.0;
                foreach ($this->courses as [$weight, $taper]) {
                    $left += ($weight * $taper) / ($age + $taper);
                }
                [$before, $some] = $atBirth[$index][$group] ?? [0.0, 0.0];
                $atBirth[$index][$group] = [$before + $impressions * $left, $some + $clicks];
            }
        }

        return $atBirth;
    }

    /**
     * Expectation maximisation; the bias never rises with the rank (pool adjacent violators). At a group of ranks each
     * video counts as bounded() says.
     *
     * @param array<int, non-empty-array<int, array{float, float}>> $atBirth
     * @return bool whether it differs from 1
     */
    private function learnBias(array $atBirth): bool
    {
        $exposures = $all = [];
        foreach ($atBirth as $index => $groups) {
            $all[$index] = 0.0;
            foreach ($groups as $group => [$impressions, $some]) {
                $exposures[$index][$group] = $impressions * $this->hints[$index];
                $all[$index] += $some;
            }
        }
        $mean = $this->courses[0][2];
        for ($step = 0; $step < self::BIAS_STEPS; $step++) {
            $rates = $sizes = [];
            foreach ($exposures as $index => $groups) {
                $exposure = self::SHAPE / $mean;
                foreach ($groups as $group => $some) {
                    $exposure += $some * $this->bias[$group];
                }
                $rates[$index] = (self::SHAPE + $all[$index]) / $exposure;
                foreach ($groups as $group => $some) {
                    $likely = $some * $this->bias[$group] * $rates[$index];
                    $sizes[$group][$index] = max($likely, $atBirth[$index][$group][1]);
                }
            }
            $clicks = array_fill_keys(RankGroup::FIRST_RANKS, 0.0);
            $expected = array_fill_keys(RankGroup::FIRST_RANKS, self::PRIOR_BIAS_CLICKS);
            foreach ($sizes as $group => $videos) {
                foreach (self::bounded($videos) as $index => $part) {
                    $clicks[$group] += $part * $atBirth[$index][$group][1];
                    $expected[$group] += $part * $exposures[$index][$group] * $rates[$index];
                }
            }
            $this->bias = self::falling($clicks, $expected);
        }

        return min($this->bias) < 0.97;
    }

    /** @param array<int, non-empty-array<int, array{float, float}>> $atBirth */
    private function learnTrust(ElsewhereHints $elsewhere, array $atBirth): void
    {
        $exposures = $clicks = [];
        foreach ($atBirth as $index => $groups) {
            $exposures[$index] = $clicks[$index] = 0.0;
            foreach ($groups as $group => [$impressions, $some]) {
                $exposures[$index] += $impressions * $this->bias[$group];
                $clicks[$index] += $some;
            }
        }
        $elsewhere->learnTrust($exposures, $clicks, $this->courses[0][2], self::TEMPER);
    }

    /**
     * @param array<int, float> $clicks by rank group
     * @param array<int, float> $expected clicks without a bias
     * @return array<int, float> their ratio, in parts of the first one's
     */
    private static function falling(array $clicks, array $expected): array
    {
        /** @var list<array{non-empty-list<int>, float, float}> $pools groups, clicks, clicks without a bias */
        $pools = [];
        foreach ($expected as $group => $without) {
            $pool = [[$group], self::PRIOR_BIAS_CLICKS + $clicks[$group], $without];
            while ($pools !== []) {
                [$groups, $more, $rest] = $pools[count($pools) - 1];
                if ($more * $pool[2] > $pool[1] * $rest) {
                    break;
                }
                array_pop($pools);
                $pool = [[...$groups, ...$pool[0]], $pool[1] + $more, $pool[2] + $rest];
            }
            $pools[] = $pool;
        }
        $bias = [];
        $first = $pools[0][1] / $pools[0][2];
        foreach ($pools as [$groups, $some, $without]) {
            $bias += array_fill_keys($groups, max(self::LEAST_BIAS, $some / $without / $first));
        }

        return $bias;
    }

    /**
     * @param ?float $age in hours: counts at lesser ages weigh less, see FORGETTING; null for all alike
     * @param float $earlier the part of the counts before the recent ones that counts
     * @param float $recent the part of the recent ones
     * @return list<array{float, float, float}> impressions that count as such at the first rank, clicks and the mean age of
     *   the impressions; by age group
     */
    private function weighted(int $index, ?float $age, float $earlier = 1.0, float $recent = 1.0): array
    {
        $counts = [];
        $last = -1;
        foreach (
            $this->counts[$index] ?? []
            as [$group, $all, $some, $countedAge, $newer, $opened, $ageGroup]
        ) {
            $weight = $age === null ? 1.0 : self::remembered($countedAge, $age);
            $impressions = $weight * $this->bias[$group] * ($earlier * $all + ($recent - $earlier) * $newer);
            $clicks = $weight * ($earlier * $some + ($recent - $earlier) * $opened);
            if ($ageGroup !== $last) {
                $counts[] = [$impressions, $clicks, $countedAge];
                $last = $ageGroup;
                continue;
            }
            $place = count($counts) - 1;
            [$before, $clicksBefore, $meanAge] = $counts[$place];
            $sum = $before + $impressions;
            $counts[$place] = [
                $sum,
                $clicksBefore + $clicks,
                $sum > 0.0 ? $meanAge + (($countedAge - $meanAge) * $impressions) / $sum : $meanAge,
            ];
        }

        return $counts;
    }

    private static function remembered(float $countedAge, float $age): float
    {
        $part = ($countedAge + self::LEAST_AGE_HOURS) / ($age + self::LEAST_AGE_HOURS);

        return min(1.0, $part ** self::FORGETTING);
    }

    /**
     * Whether a video has burst, from 0 to 1: so much of its earlier impressions and clicks counts no more. A power prior
     * (Ibrahim and Chen, Statistical Science 2000), whose power falls from 1 to 0 as
     *
     *     (recent clicks − FALSE_CLICKS − expected) / √(variance + 1)
     *
     * rises from BURST_DEVIATIONS by one. The expected recent clicks are negative binomial under each course, given the
     * earlier ones, which also say how likely it is.
     */
    private function burst(int $index, float $age): float
    {
        $clicks = -self::FALSE_CLICKS;
        foreach ($this->counts[$index] ?? [] as [, , , , , $opened]) {
            $clicks += $opened;
        }
        if ($clicks <= 0.0) {
            return 0.0;
        }
        $recent = $this->weighted($index, null, 0.0);
        [$shape, $exposures, $weights] = $this->likely(
            $this->weighted($index, $age, recent: 0.0),
            $this->hints[$index],
        );
        $expected = $square = 0.0;
        foreach ($this->courses as $course => [, $taper]) {
            $seen = 0.0;
            foreach ($recent as [$impressions, , $countedAge]) {
                $seen += ($impressions * $taper) / ($countedAge + $taper);
            }
            $one = ($shape * $seen) / $exposures[$course];
            $expected += $weights[$course] * $one;
            $square += $weights[$course] * $one * ($one + 1 + $seen / $exposures[$course]);
        }
        $excess = ($clicks - $expected) / sqrt($square - $expected * $expected + 1);

        return max(0.0, min(1.0, $excess - self::BURST_DEVIATIONS));
    }
}

/** The chance that a visitor to whom the video is shown at the first rank opens it, now. */
final readonly class ClickRate
{
    private const float UPPER_DEVIATIONS = 3.5;
    private const float LEAST_SHAPE = 0.5;

    /** @param list<float> $ahead its mean over each window */
    public function __construct(
        /** Before any impression was counted: from the region, its course, and the counts elsewhere. */
        public float $prior,
        /** With what was counted. */
        public float $mean,
        public float $deviation,
        /** Whether impressions say more than elsewhere lets them: the mean is held at a multiple of the prior. */
        public bool $isHeld,
        /** Hours in which half of it is gone. */
        public float $halfGoneHours,
        private array $ahead,
        /** What part of the counts before a burst says nothing any more, from 0 to 1. */
        public float $forgotten,
    ) {}

    /**
     * What it may turn out to be: as far above the mean as the best of some thousands is. Of a Gamma distribution (Wilson and
     * Hilferty, 1931): a normal one's bound ranks what nobody has seen behind all that was opened once.
     */
    public function upper(): float
    {
        // A mixture of courses may be wider than the prior, and rank an older unknown video above a newer one.
        $shape = max(self::LEAST_SHAPE, ($this->mean / $this->deviation) ** 2);
        $root = max(0.0, 1 - 1 / (9 * $shape) + self::UPPER_DEVIATIONS / (3 * sqrt($shape)));

        return $this->mean * $root * $root * $root;
    }

    /** Its mean over the window ahead. */
    public function ahead(Window $window): float
    {
        return match ($window) {
            Window::Now => $this->ahead[0],
            Window::Day => $this->ahead[1],
            Window::Week => $this->ahead[2],
        };
    }
}

/** A video of a region where a list learns from impressions, with all that is known of it. */
final readonly class Contender
{
    /** @param list<ClickCounts> $counts */
    public function __construct(
        public string $videoId,
        public string $channel,
        public ?string $category,
        public ?int $publishedAt,
        /** Without an observation when only the catalogue names it. */
        public Velocity $velocity,
        public array $counts,
        /** As ListKinds::sql() gives them. */
        public string $kinds = '',
        /** Whether it was taken down: then the model learns from its impressions all the same, and no list has it. */
        public bool $isRemoved = false,
        public ?Ruling $ruling = null,
        /** UTC seconds, in whatever region: may be before it was counted here. Null when it was not. */
        public ?int $firstSeenAt = null,
    ) {}

    public function isCounted(): bool
    {
        return $this->velocity->observationCount > 0;
    }

    /** @return int UTC seconds. A video without a date that is counted for the first time stays as old as its impressions took it. */
    public function ageStartsAt(): int
    {
        return ClickCounts::ageStartsAt(
            $this->velocity->firstObservedAt,
            $this->publishedAt,
            $this->firstSeenAt,
        );
    }

    /** @param float $at UTC seconds */
    public function ageHours(float $at): float
    {
        return max(0.0, ($at - $this->ageStartsAt()) / 3600);
    }
}

/** Impressions and clicks of a video at a group of ranks and about one age, in sums that fade. */
final readonly class ClickCounts
{
    /** What is older by so much counts half. Long: what has changed with a video's age is kept apart. */
    public const float HALF_LIFE_HOURS = 96.0;
    /** Of the recent sums: a burst shows in them within hours. */
    public const float RECENT_HALF_LIFE_HOURS = 2.0;
    /** The oldest age group has no upper end. */
    private const int AGE_GROUPS = 12;

    public function __construct(
        public int $rankGroup,
        /** See ageGroup(). */
        public int $ageGroup,
        public float $impressions,
        public float $clicks,
        /** The mean age at the impressions. */
        public float $ageHours,
        /** The time that the sums are of, UTC seconds. */
        public int $countedAt,
        public float $recentImpressions = 0.0,
        public float $recentClicks = 0.0,
    ) {}

    /**
     * The time that a video's age counts from, in UTC seconds: its publication, but not after it was first seen. Without a
     * time of publication it is new when it is first seen: an age of days would hide that rates fall within hours, where
     * they do.
     *
     * @param ?int $cameAt when it was first seen in whatever region
     */
    public static function ageStartsAt(int $firstSeenAt, ?int $publishedAt, ?int $cameAt = null): int
    {
        return min($publishedAt ?? ($cameAt ?? $firstSeenAt), $firstSeenAt);
    }

    /** 0 up to half an hour, then one for each doubling. */
    public static function ageGroup(float $hours): int
    {
        return $hours <= 0.5 ? 0 : min(self::AGE_GROUPS - 1, (int) ceil(log($hours / 0.5, 2)));
    }

    /**
     * Another date may be known since they were counted. The last of them was as old as that makes it, and their mean is
     * before the last by no more than it was before the end of the age group.
     *
     * @param int $ageStartsAt of the video, UTC seconds
     */
    public function ageHoursFrom(int $ageStartsAt): float
    {
        $last = max(0.0, ($this->countedAt - $ageStartsAt) / 3600);
        $groupEnds = $this->ageGroup === self::AGE_GROUPS - 1 ? INF : 0.5 * 2 ** $this->ageGroup;

        return max($last - $groupEnds + $this->ageHours, min($last, $this->ageHours));
    }

    /** The share that is left of a sum after so many seconds; all of it when they are negative. */
    public static function kept(int $seconds, float $halfLifeHours = self::HALF_LIFE_HOURS): float
    {
        return $seconds <= 0 ? 1.0 : 2.0 ** (-$seconds / (3600 * $halfLifeHours));
    }

    /**
     * Of all ranks and ages.
     *
     * @param list<self> $counts
     * @param int $at UTC seconds
     * @return array{float, float} impressions and clicks
     */
    public static function sums(array $counts, int $at, float $forgotten = 0.0): array
    {
        $impressions = $clicks = 0.0;
        foreach ($counts as $some) {
            $kept = (1 - $forgotten) * self::kept($at - $some->countedAt);
            $recent = $forgotten * self::kept($at - $some->countedAt, self::RECENT_HALF_LIFE_HOURS);
            $impressions += $kept * $some->impressions + $recent * $some->recentImpressions;
            $clicks += $kept * $some->clicks + $recent * $some->recentClicks;
        }

        return [$impressions, $clicks];
    }

    /** Both together, whichever is the older one: the order of additions does not matter. */
    public function plus(self $other): self
    {
        $mine = self::kept($other->countedAt - $this->countedAt);
        $others = self::kept($this->countedAt - $other->countedAt);
        $myRecent = self::kept($other->countedAt - $this->countedAt, self::RECENT_HALF_LIFE_HOURS);
        $othersRecent = self::kept($this->countedAt - $other->countedAt, self::RECENT_HALF_LIFE_HOURS);
        $impressions = $mine * $this->impressions + $others * $other->impressions;

        return new self(
            $this->rankGroup,
            $this->ageGroup,
            $impressions,
            $mine * $this->clicks + $others * $other->clicks,
            $impressions <= 0.0
                ? $this->ageHours
                : ($mine * $this->impressions * $this->ageHours +
                        $others * $other->impressions * $other->ageHours) /
                    $impressions,
            max($this->countedAt, $other->countedAt),
            $myRecent * $this->recentImpressions + $othersRecent * $other->recentImpressions,
            $myRecent * $this->recentClicks + $othersRecent * $other->recentClicks,
        );
    }
}

/** How many impressions the lists of a region get, by rank group: of all videos, also those that are gone. */
final readonly class Traffic
{
    /** As long as a day, so that it is a mean over day and night. */
    public const float HALF_LIFE_HOURS = 24.0;

    /**
     * @param array<int, array{float, int, int}> $sums by rank group: impressions, in sums that fade, since and until when
     *   they were counted, in UTC seconds
     */
    public function __construct(private array $sums, private int $now) {}

    /** Of one rank of the group. Who sees a rank has seen those above, also where what stood there is not counted. */
    public function perHour(int $group): float
    {
        $most = 0.0;
        foreach ($this->sums as $deeper => [$impressions, , $until]) {
            if ($deeper >= $group) {
                $kept = ClickCounts::kept($this->now - $until, self::HALF_LIFE_HOURS);
                $most = max($most, ($impressions * $kept) / RankGroup::size($deeper));
            }
        }
        if ($most === 0.0) {
            return 0.0;
        }
        $since = (int) min(array_column($this->sums, 1));
        $life = self::HALF_LIFE_HOURS / M_LN2;

        return $most / $life / (1 - ClickCounts::kept(max(900, $this->now - $since), self::HALF_LIFE_HOURS));
    }

    /**
     * @param array<int, array{float, int, int}> $sums by rank group
     * @return array<int, array{float, int, int}> with so many impressions more
     */
    public static function plus(array $sums, int $group, float $impressions, int $since, int $until): array
    {
        [$before, $first, $last] = $sums[$group] ?? [0.0, $since, $until];
        $sums[$group] = [
            $before * ClickCounts::kept($until - $last, self::HALF_LIFE_HOURS) +
            $impressions * ClickCounts::kept($last - $until, self::HALF_LIFE_HOURS),
            min($first, $since),
            max($last, $until),
        ];

        return $sums;
    }
}

/**
 * What counts from elsewhere say of a video's click-through rate here, compared with the other videos of the region:
 * (rate elsewhere / the region's geometric mean) ^ trust.
 */
final class ElsewhereHints
{
    /**
     * How much of a difference elsewhere is one here, before impressions say so: the slope of ln(rate here) on ln(views
     * elsewhere). Below 1, because popular elsewhere is not the same as wanted here, and the extremes elsewhere are partly
     * luck.
     */
    private const float USUAL_TRUST = 2 / 3;
    /** Holds a region of some hundred videos near to it. */
    private const float TRUST_DEVIATION = 0.18;
    /** The trust is learned among 0, 1/4 … 1. */
    private const int TRUST_STEPS = 4;
    /** The most by which one video's clicks speak for one step against the next, in ln(likelihood). */
    private const float LARGEST_VOTE = 0.35;
    private const float LARGEST_PART = 2.0;
    private const int MEAN_STEPS = 4;
    private const int START_STEPS = 12;
    /** The views by which the rate since publication holds against the recent one. */
    private const float LIFE_VIEWS = 5.0;
    private const float LARGEST = 20.0;
    /** The variance of ln(rate here) among videos that are viewed as much elsewhere. */
    private const float VARIANCE = 0.36;

    /** @var array<int, float> ln of the rate elsewhere, in parts of the geometric mean; by contender that is counted */
    private readonly array $logs;
    public float $trust = self::USUAL_TRUST;

    /**
     * A recent rate of few views is noise: it is a Poisson count over the mean time that the rate averages over, with the
     * rate since publication as its Gamma prior, and that one has the region's mean as its own.
     *
     * @param list<Contender> $contenders
     * @param float $taper hours in which the rate of a new video falls by half
     */
    public function __construct(private readonly array $contenders, float $taper)
    {
        $views = $spent = 0.0;
        $lives = $logs = [];
        foreach ($contenders as $index => $contender) {
            if ($contender->isCounted()) {
                $age = self::ageHours($contender, $contender->velocity->lastObservedAt, $taper);
                $lives[$index] = $taper * log1p($age / $taper);
                $views += $contender->velocity->views;
                $spent += $lives[$index];
            }
        }
        if ($views > 0.0 && $spent > 0.0) {
            foreach ($lives as $index => $life) {
                $logs[$index] = log(self::rate($contenders[$index], $taper, $life, $views / $spent));
            }
            $mean = array_sum($logs) / count($logs);
            $logs = array_map(static fn(float $log): float => $log - $mean, $logs);
        }
        $this->logs = $logs;
    }

    /** @return list<float> the factor on the prior chance, 1 for a video that nobody counts elsewhere */
    public function factors(): array
    {
        $factors = array_fill(0, count($this->contenders), 1.0);
        foreach ($this->logs as $index => $log) {
            $factors[$index] = self::factor($this->trust * $log);
        }

        return $factors;
    }

    /**
     * Learns the trust from the marginal likelihood of the clicks, with exponentially distributed rates. Each video has one
     * vote of a bounded size for each step: false clicks on ten videos move the trust by less than a step where a hundred
     * are seen.
     *
     * @param array<int, float> $exposures impressions that count as such at the first rank and at birth, by contender
     * @param array<int, float> $clicks
     * @param float $mean rate of a new video
     */
    public function learnTrust(array $exposures, array $clicks, float $mean, float $temper): void
    {
        $exposures = array_intersect_key($exposures, $this->logs);
        if ($exposures === []) {
            return;
        }
        $before = null;
        $votes = $all = $sum = 0.0;
        for ($step = 0; $step <= self::TRUST_STEPS; $step++) {
            $trust = $step / self::TRUST_STEPS;
            $expected = $factors = $likelihoods = [];
            foreach ($exposures as $index => $exposure) {
                $factors[$index] = self::factor($trust * $this->logs[$index]);
                $expected[$index] = $exposure * $factors[$index];
            }
            for ($round = 0; $round < self::MEAN_STEPS; $round++) {
                $rates = ClickModel::PRIOR_VIDEOS * ClickModel::PRIOR_RATE;
                $rate = 1 / $mean;
                foreach ($expected as $index => $some) {
                    $rates += min(self::LARGEST_PART * $mean, (1 + $clicks[$index]) / ($rate + $some));
                }
                $mean = $rates / (ClickModel::PRIOR_VIDEOS + count($expected));
            }
            foreach ($expected as $index => $some) {
                $likelihoods[$index] =
                    $clicks[$index] * log($mean * $factors[$index]) -
                    (1 + $clicks[$index]) * log1p($mean * $some);
                if ($before !== null) {
                    $vote = $likelihoods[$index] - $before[$index];
                    $votes += max(-self::LARGEST_VOTE, min(self::LARGEST_VOTE, $vote));
                }
            }
            $before = $likelihoods;
            $weight = exp($votes / $temper - (($trust - self::USUAL_TRUST) / self::TRUST_DEVIATION) ** 2 / 2);
            $all += $weight;
            $sum += $weight * $trust;
        }
        $this->trust = $sum / $all;
    }

    /**
     * Grows where few views are counted elsewhere: their Gamma distribution adds about 1 / (views + 1) to the variance
     * of ln(views elsewhere). It grows too where elsewhere is trusted less: what says nothing contradicts nothing.
     *
     * @param float $surprise standard deviations
     * @return float the most that the rate may be, in parts of its prior; no bound for a video that nobody counts
     */
    public function bound(int $index, float $surprise): float
    {
        $contender = $this->contenders[$index];
        $variance = self::VARIANCE + self::USUAL_TRUST ** 2 / ($contender->velocity->views + 1);

        return $contender->isCounted()
            ? exp(($surprise * sqrt($variance)) / min(1.0, $this->trust / self::USUAL_TRUST))
            : INF;
    }

    private static function factor(float $log): float
    {
        return min(self::LARGEST, max(1 / self::LARGEST, exp($log)));
    }

    /** @return float views per hour as if the video were new */
    private static function rate(Contender $contender, float $taper, float $life, float $mean): float
    {
        $velocity = $contender->velocity;
        $sinceBirth = ($velocity->views + 1) / ($life + 1 / $mean);
        $hours = Velocity::RATE_HALF_LIFE_HOURS / M_LN2;
        $left = $taper / (self::ageHours($contender, $velocity->ratedAt, $taper) + $taper);

        return (self::LIFE_VIEWS + $hours * $velocity->viewsPerHour) /
            (self::LIFE_VIEWS / $sinceBirth + $hours * $left);
    }

    private static function ageHours(Contender $contender, float $at, float $taper): float
    {
        $velocity = $contender->velocity;
        $startsAt = Velocity::ageStartsAt($velocity->firstObservedAt, $contender->publishedAt);
        if ($contender->publishedAt === null) {
            $startsAt = self::likelyStart($velocity, $startsAt, $taper);
        }

        return max(0.0, ($at - $startsAt) / 3600);
    }

    /**
     * Without a time of publication a video had some views before it was first seen, or was new: at this rate, it got all
     * since views = rate · (age + T) · ln(1 + age / T).
     *
     * @param int $earliest what the forecast assumes
     */
    private static function likelyStart(Velocity $velocity, int $earliest, float $taper): float
    {
        $latest = $velocity->firstObservedAt;
        for ($step = 0; $step < self::START_STEPS; $step++) {
            $middle = ($earliest + $latest) / 2;
            $age = ($velocity->lastObservedAt - $middle) / 3600;
            if ($velocity->viewsPerHour * ($age + $taper) * log1p($age / $taper) < $velocity->views) {
                $latest = $middle;
            } else {
                $earliest = $middle;
            }
        }

        return $earliest;
    }
}

/** Ranks that are seen alike: the first ones alone, the lower ones together. A group's name is its first rank. */
final class RankGroup
{
    public const array FIRST_RANKS = [1, 2, 3, 4, 5, 6, 8, 10, 13, 17, 21, 25, 33, 49, 97];

    /** @param int $rank from 1 */
    public static function of(int $rank): int
    {
        $group = 1;
        foreach (self::FIRST_RANKS as $first) {
            if ($first > $rank) {
                break;
            }
            $group = $first;
        }

        return $group;
    }

    /** How many ranks it has. */
    public static function size(int $group): int
    {
        return (array_find(self::FIRST_RANKS, static fn(int $first): bool => $first > $group) ?? 2 * $group) -
            $group;
    }
}
