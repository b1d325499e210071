<?php

declare(strict_types=1);

namespace TrendVault\Writer\Ranking;

/**
 * What a region's looks and views say of each video's appeal. Views of a video at a rank are Poisson:
 *
 *     views ~ Poisson(looks · bias(rank) · appeal · left(age)),   appeal ~ Gamma
 *
 * The bias and the region's mean appeal are estimated by expectation maximisation. That the same videos stand at
 * several ranks tells the bias apart from their appeal (Agarwal et al., WSDM 2019); what a list shows depends only on
 * what was counted, so that its choice does not distort the estimate (Rubin, Biometrika 1976).
 */
final class AppealModel
{
    /** Is added to generations.formula where looks took part. */
    public const string VERSION = 'looks-1';
    /** From so many looks on, what is learned from them ranks alone; before, together with the forecast. */
    public const float FULL_WEIGHT_LOOKS = 3000.0;
    /** The appeal of a new video before anything was counted, worth as many videos as PRIOR_VIDEOS. */
    public const float PRIOR_APPEAL = 0.04;

    /**
     * By how many standard deviations looks may exceed what elsewhere implies: the most that false messages can do for a
     * video that is counted elsewhere.
     */
    public const float SURPRISE = 3.0;

    private const float PRIOR_VIDEOS = 20.0;
    /** Views that the prior of a video is worth: the shape of its Gamma distribution. Appeals differ by a factor of e. */
    private const float PRIOR_VIEWS = 1.0;
    /** Looks that the prior is worth at least, so that one look changes little. */
    private const float LEAST_PRIOR_LOOKS = 32.0;
    /** How far above the mean a video ranks that is to be tried: standard deviations of what is known of it. */
    private const float OPTIMISM = 0.6;
    private const float PRIOR_BIAS_VIEWS = 10.0;
    private const float LEAST_BIAS = 0.01;
    private const float LARGEST_APPEAL = 0.5;
    private const int ITERATIONS = 30;

    /** @var array<int, array<int, float>> looks as if the video were new, by contender and rank group */
    private array $agedLooks = [];
    /** @var array<int, float> views of all videos, by rank group */
    private array $views;
    /** @var array<int, float> by contender */
    private array $allViews = [];
    /** @var array<int, float> aged looks, corrected by the bias */
    private array $examined = [];
    /** @var array<int, float> the share of those who look at the first rank, among those who look at the group: from 1 down */
    private array $bias;
    /** @var array<int, float> */
    private array $looks;
    private float $meanAppeal = self::PRIOR_APPEAL;
    /** @var list<float> */
    private readonly array $hints;
    /** @var list<float> the most that an appeal may be, in parts of its prior */
    private readonly array $bounds;

    /**
     * @param list<Contender> $contenders
     * @param int $now UTC seconds
     * @param float $surprise see SURPRISE; INF for no bound
     */
    public function __construct(
        private readonly array $contenders,
        private readonly int $now,
        float $surprise = self::SURPRISE,
    ) {
        $this->bias = array_fill_keys(RankGroup::FIRST_RANKS, 1.0);
        $this->looks = $this->views = array_fill_keys(RankGroup::FIRST_RANKS, 0.0);
        $this->hints = ElsewhereHints::of($contenders);
        $this->bounds = array_map(
            static fn(Contender $contender): float => ElsewhereHints::bound($contender, $surprise),
            $contenders,
        );
        $this->sum();
        for ($iteration = 0; $iteration < self::ITERATIONS && $this->examined !== []; $iteration++) {
            $this->estimateMean();
            $this->estimateBias();
        }
    }

    /** How much the looks weigh against the forecast: 0 without any, 1 from FULL_WEIGHT_LOOKS on. */
    public function weight(): float
    {
        return min(1.0, array_sum($this->looks) / self::FULL_WEIGHT_LOOKS);
    }

    /** @return array<int, float> how many look at a rank of the group, by group */
    public function looksByRank(): array
    {
        $shares = [];
        foreach (RankGroup::FIRST_RANKS as $index => $first) {
            $next = RankGroup::FIRST_RANKS[$index + 1] ?? 2 * $first;
            $shares[$first] = $this->looks[$first] / ($next - $first);
        }

        return $shares;
    }

    /** @return array<int, float> by rank group, 1 for the first rank */
    public function bias(): array
    {
        return $this->bias;
    }

    public function estimate(int $index): AppealEstimate
    {
        $prior = $this->prior($index);
        $priorLooks = self::priorLooks($prior);
        $views = $priorLooks * $prior + ($this->allViews[$index] ?? 0.0);
        $mean = $views / ($priorLooks + ($this->examined[$index] ?? 0.0));
        // Wilson and Hilferty (1931): the cube root of a Gamma variable is nearly normal.
        $upper = $mean * (1 - 1 / (9 * $views) + self::OPTIMISM / (3 * sqrt($views))) ** 3;
        $largest = $this->bounds[$index] * $prior;

        return new AppealEstimate(
            $prior,
            min($largest, $mean),
            min($largest, max($mean, $upper)),
            $mean > $largest,
        );
    }

    /** Views in the window ahead of a video with that appeal; the unit is the one of docs/ranking.md. */
    public function score(int $index, float $appeal, Window $window): float
    {
        $contender = $this->contenders[$index];
        $hours = $window->hours();
        $leftAhead = Appeal::leftAhead($contender->ageHours($this->now), $hours);
        $weight = $this->weight();
        $forecast = $contender->isCounted()
            ? Forecast::expectedViews($contender->velocity, $contender->publishedAt, $window, $this->now)
            : $this->prior($index) * $leftAhead * $hours;
        if ($weight === 0.0) {
            return $forecast;
        }
        $looksPerHour = max(1.0, ($this->looks[1] * M_LN2) / Evidence::HALF_LIFE_HOURS);

        return max(0.001, $forecast) ** (1 - $weight) *
            ($looksPerHour * $hours * $appeal * $leftAhead) ** $weight;
    }

    private function sum(): void
    {
        foreach ($this->contenders as $index => $contender) {
            foreach ($contender->evidence as $group => $evidence) {
                $kept = Evidence::kept($this->now - $evidence->countedAt);
                $views = $kept * $evidence->views;
                $this->looks[$group] += $kept * $evidence->looks;
                $this->agedLooks[$index][$group] = $kept * $evidence->agedLooks;
                $this->views[$group] += $views;
                $this->allViews[$index] = ($this->allViews[$index] ?? 0.0) + $views;
            }
            if ($contender->evidence !== []) {
                $this->examined[$index] = array_sum($this->agedLooks[$index]);
            }
        }
    }

    private function estimateMean(): void
    {
        $sum = self::PRIOR_VIDEOS * self::PRIOR_APPEAL;
        foreach ($this->means() as $index => $mean) {
            $sum += $mean / $this->hints[$index];
        }
        $this->meanAppeal = $sum / (self::PRIOR_VIDEOS + count($this->examined));
    }

    private function estimateBias(): void
    {
        $expected = array_fill_keys(RankGroup::FIRST_RANKS, self::PRIOR_BIAS_VIEWS);
        $means = $this->means();
        foreach ($this->agedLooks as $index => $groups) {
            $mean = $means[$index];
            foreach ($groups as $group => $looks) {
                $expected[$group] += $looks * $mean;
            }
        }
        $first = (self::PRIOR_BIAS_VIEWS + $this->views[1]) / $expected[1];
        $least = 1.0;
        foreach ($expected as $group => $views) {
            $least = min($least, (self::PRIOR_BIAS_VIEWS + $this->views[$group]) / $views / $first);
            $this->bias[$group] = max(self::LEAST_BIAS, $least);
        }
        foreach ($this->agedLooks as $index => $groups) {
            $examined = 0.0;
            foreach ($groups as $group => $looks) {
                $examined += $looks * $this->bias[$group];
            }
            $this->examined[$index] = $examined;
        }
    }

    /** @return array<int, float> appeals of those with looks */
    private function means(): array
    {
        $means = [];
        foreach ($this->examined as $index => $examined) {
            $prior = min(self::LARGEST_APPEAL, $this->meanAppeal * $this->hints[$index]);
            $looks = max(self::PRIOR_VIEWS / $prior, self::LEAST_PRIOR_LOOKS);
            $means[$index] = min(
                $this->bounds[$index] * $prior,
                ($looks * $prior + $this->allViews[$index]) / ($looks + $examined),
            );
        }

        return $means;
    }

    private function prior(int $index): float
    {
        return min(self::LARGEST_APPEAL, $this->meanAppeal * $this->hints[$index]);
    }

    private static function priorLooks(float $prior): float
    {
        return max(self::PRIOR_VIEWS / $prior, self::LEAST_PRIOR_LOOKS);
    }
}

/** The appeal of a video when it was new: the chance that a visitor who looks at it at the first rank opens it. */
final readonly class AppealEstimate
{
    public function __construct(
        /** Before any look was counted: from the region, and from the counts elsewhere. */
        public float $prior,
        /** With what was counted. */
        public float $mean,
        /** An upper bound, higher for a video of which less is known: what a video ranks by that is to be tried. */
        public float $upper,
        /** Whether looks say more than elsewhere lets them: the mean is held at a multiple of the prior. */
        public bool $isHeld,
    ) {}
}

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

/** A video of a region where a list learns from looks, with all that is known of it. */
final readonly class Contender
{
    /** @param array<int, Evidence> $evidence by rank group */
    public function __construct(
        public string $videoId,
        public string $channel,
        public ?string $category,
        public ?int $publishedAt,
        /** Without an observation when only the catalogue names it. */
        public Velocity $velocity,
        public array $evidence,
        /** BCP 47. */
        public ?string $language = null,
    ) {}

    public function isCounted(): bool
    {
        return $this->velocity->observationCount > 0;
    }

    /**
     * All looks at it, of all ranks.
     *
     * @param int $at UTC seconds
     */
    public function looks(int $at): Evidence
    {
        return array_reduce(
            $this->evidence,
            static fn(Evidence $sum, Evidence $one): Evidence => $sum->plus($one),
            new Evidence(0.0, 0.0, 0.0, $at),
        );
    }

    /** @param int $at UTC seconds */
    public function ageHours(float $at): float
    {
        $since = Forecast::ageStartsAt($this->velocity->firstObservedAt, $this->publishedAt);

        return max(0.0, ($at - $since) / 3600);
    }
}

/** Looks at a video and its views, in sums that forget: what is older by HALF_LIFE_HOURS counts half. */
final readonly class Evidence
{
    public const float HALF_LIFE_HOURS = 8.0;

    public function __construct(
        public float $looks,
        /** Each look times Appeal::left() at its time: looks at a video as if it were new. */
        public float $agedLooks,
        public float $views,
        /** The time that the sums are of, UTC seconds. */
        public int $countedAt,
    ) {}

    /** The share that is left of a sum after so many seconds; all of it when they are negative. */
    public static function kept(int $seconds): float
    {
        return $seconds <= 0 ? 1.0 : 2.0 ** (-$seconds / (3600 * self::HALF_LIFE_HOURS));
    }

    /** Both together, whichever is the older one: the order of additions does not matter. */
    public function plus(self $other): self
    {
        $mine = self::kept($other->countedAt - $this->countedAt);
        $others = self::kept($this->countedAt - $other->countedAt);

        return new self(
            $mine * $this->looks + $others * $other->looks,
            $mine * $this->agedLooks + $others * $other->agedLooks,
            $mine * $this->views + $others * $other->views,
            max($this->countedAt, $other->countedAt),
        );
    }
}

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

/** Ranks that are looked at alike: the first ones alone, the lower ones together. A group's name is its first rank. */
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
}
