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

    private const float PRIOR_VIDEOS = 20.0;
    /** Views that the prior of a video is worth: the shape of its Gamma distribution. Appeals differ by a factor of e. */
    private const float PRIOR_VIEWS = 1.0;
    /** Looks that the prior is worth at least, so that one look changes little. */
    private const float LEAST_PRIOR_LOOKS = 16.0;
    /** How far above the mean a video ranks that is to be tried: standard deviations of what is known of it. */
    private const float OPTIMISM = 0.6;
    private const float PRIOR_BIAS_VIEWS = 10.0;
    private const float LEAST_BIAS = 0.01;
    private const float LARGEST_APPEAL = 0.5;
    private const int ITERATIONS = 30;

    /** @var array<int, array<int, float>> looks as if the video were new, by contender and rank group */
    private array $agedLooks = [];
    /** @var array<int, array<int, float>> by contender and rank group */
    private array $views = [];
    /** @var array<int, float> */
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

    /**
     * @param list<Contender> $contenders
     * @param int $now UTC seconds
     */
    public function __construct(private readonly array $contenders, private readonly int $now)
    {
        $this->bias = array_fill_keys(RankGroup::FIRST_RANKS, 1.0);
        $this->looks = array_fill_keys(RankGroup::FIRST_RANKS, 0.0);
        $this->hints = ElsewhereHints::of($contenders);
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

        return new AppealEstimate($prior, $mean, max($mean, $upper));
    }

    /** Views in the window ahead of a video with that appeal; the unit is the one of docs/ranking.md. */
    public function score(int $index, float $appeal, Window $window): float
    {
        $contender = $this->contenders[$index];
        $hours = $window->hours();
        $chance = $appeal * Appeal::leftAhead($contender->ageHours($this->now), $hours);
        $weight = $this->weight();
        $forecast = $contender->isCounted()
            ? Forecast::expectedViews($contender->velocity, $contender->publishedAt, $window, $this->now)
            : $chance * $hours;
        if ($weight === 0.0) {
            return $forecast;
        }
        $looksPerHour = max(1.0, ($this->looks[1] * M_LN2) / Evidence::HALF_LIFE_HOURS);

        return max(0.001, $forecast) ** (1 - $weight) * ($looksPerHour * $hours * $chance) ** $weight;
    }

    private function sum(): void
    {
        foreach ($this->contenders as $index => $contender) {
            foreach ($contender->evidence as $group => $evidence) {
                $kept = Evidence::kept($this->now - $evidence->countedAt);
                $this->looks[$group] += $kept * $evidence->looks;
                $this->agedLooks[$index][$group] = $kept * $evidence->agedLooks;
                $this->views[$index][$group] = $kept * $evidence->views;
            }
            if ($contender->evidence !== []) {
                $this->allViews[$index] = array_sum($this->views[$index]);
                $this->examined[$index] = array_sum($this->agedLooks[$index]);
            }
        }
    }

    private function estimateMean(): void
    {
        $sum = self::PRIOR_VIDEOS * self::PRIOR_APPEAL;
        foreach (array_keys($this->examined) as $index) {
            $sum += $this->mean($index) / $this->hints[$index];
        }
        $this->meanAppeal = $sum / (self::PRIOR_VIDEOS + count($this->examined));
    }

    private function estimateBias(): void
    {
        $expected = $counted = array_fill_keys(RankGroup::FIRST_RANKS, self::PRIOR_BIAS_VIEWS);
        foreach ($this->agedLooks as $index => $groups) {
            $mean = $this->mean($index);
            foreach ($groups as $group => $looks) {
                $expected[$group] += $looks * $mean;
                $counted[$group] += $this->views[$index][$group];
            }
        }
        $least = $counted[1] / $expected[1];
        foreach (RankGroup::FIRST_RANKS as $group) {
            $least = min($least, $counted[$group] / $expected[$group]);
            $this->bias[$group] = max(self::LEAST_BIAS, ($least * $expected[1]) / $counted[1]);
        }
        foreach ($this->agedLooks as $index => $groups) {
            $this->examined[$index] = 0.0;
            foreach ($groups as $group => $looks) {
                $this->examined[$index] += $looks * $this->bias[$group];
            }
        }
    }

    private function mean(int $index): float
    {
        $prior = $this->prior($index);
        $looks = self::priorLooks($prior);

        return ($looks * $prior + $this->allViews[$index]) / ($looks + $this->examined[$index]);
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
