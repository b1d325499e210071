<?php

declare(strict_types=1);

namespace TrendVault\Writer\Ranking;

/**
 * Chooses which videos of a list get a place that they have not earned, so that something is learned of them. A place
 * goes to a video for which
 *
 *     (E[V(M)] − V(μ)) + (μ − c) · n
 *
 * is positive: V(x) is what a rate x brings over the time for which it is above those of the list, M the posterior mean
 * after n more impressions, μ the mean now, c the rate of the video that loses the place. n are the impressions of that
 * rank until the next list; since one list's often teach too little to be worth anything, several lists' are tried as
 * well, for their share (Frazier and Powell, 2010: the knowledge gradient of a batch). Places are given by that value for
 * each impression, until none is positive or the share is used. So low ranks are used first where they teach enough, and
 * a list stops trying by itself when nothing is left to learn. Nothing is drawn at random.
 */
final class Trials
{
    private const float HOURS_TO_NEXT_LIST = 0.25;
    /** So many lists in a row may try a video. */
    private const array BATCHES = [1, 4, 16];
    /** Quantiles of the normal distribution, and the share of each: the upper tail matters most. */
    private const array QUANTILES = [-1.0, -0.5, 0.0, 0.5, 1.0, 1.5, 2.0, 2.5, 3.0, 3.5];
    private const array SHARES = [
        0.226627,
        0.174666,
        0.197413,
        0.174666,
        0.120978,
        0.0655906,
        0.0278347,
        0.00924571,
        0.00240321,
        0.000577025,
    ];
    /** Of a distribution with a smaller one the quantiles err too much for a bound. */
    private const float LEAST_BOUNDED_SHAPE = 0.2;
    /** Of one below 0.008 all quantiles are zero: a video that is expected to be clicked almost never, and may be a hit. */
    private const float LEAST_SHAPE = 0.01;
    private const array REPRESENTATIVES = [1, 2, 4, 8, 16, 32, 48, 96];
    private const float LEAST_RATE = 0.0001;
    private const int TABLE_STEPS = 16;
    private const int TABLE_SIZE = 212;

    /** @var array<int, float> impressions an hour that count as such at the first rank, by rank from 1 */
    private array $perHour = [];
    /** @var array<int, float> impressions an hour, by rank from 1 */
    private array $impressions = [];

    /**
     * Of one list.
     *
     * @param float $share of the impressions that may go to ranks which were not earned, from 0 to 1
     * @param array<int, float> $bias by rank group
     * @param ?array<int, float> $parts of the region's impressions that the list gets, by rank group; null: each list gets all
     */
    public function __construct(
        private readonly float $share,
        Traffic $traffic,
        array $bias,
        ?array $parts = null,
    ) {
        $last = count(RankGroup::FIRST_RANKS) - 1;
        foreach (RankGroup::FIRST_RANKS as $index => $first) {
            $perHour = $traffic->perHour($first) * ($parts === null ? 1.0 : $parts[$first] ?? 0.0);
            if ($perHour <= 0.0 || $index === $last) {
                break;
            }
            for ($rank = $first; $rank < RankGroup::FIRST_RANKS[$index + 1]; $rank++) {
                $this->impressions[$rank] = $perHour;
                $this->perHour[$rank] = $perHour * $bias[$first];
            }
        }
    }

    /**
     * @param list<Candidate> $sorted all, by score
     * @param array<int, Candidate> $limited the same under the channel limit; the keys are the places in $sorted
     * @param list<Candidate> $pool those that may be tried
     * @return array<int, Candidate> by rank; the keys are the places without the channel limit
     */
    public function placed(
        Window $window,
        array $sorted,
        array $limited,
        array $pool,
        ChannelLimit $channelLimit,
    ): array {
        $earned = array_values($limited);
        $places = $this->places($window, $earned, $pool, $channelLimit);
        if ($places === []) {
            return $limited;
        }
        $unlimited = array_flip(array_column(self::inserted($sorted, $places), 'videoId'));
        $list = [];
        foreach (self::inserted($earned, $places) as $candidate) {
            $list[$unlimited[$candidate->videoId]] = $candidate;
        }

        return $list;
    }

    /**
     * @param list<Candidate> $earned
     * @param list<Candidate> $pool
     * @return array<int, Candidate> by place from 0
     */
    private function places(Window $window, array $earned, array $pool, ChannelLimit $channelLimit): array
    {
        $depth = min(count($earned), count($this->perHour));
        $budget = $this->share * array_sum(array_slice($this->impressions, 0, $depth));
        if ($budget <= 0.0) {
            return [];
        }
        $listed = array_slice($earned, 0, $depth);
        $pool = array_values(
            array_diff_key(array_column($pool, null, 'videoId'), array_column($listed, null, 'videoId')),
        );
        $rates = array_map(static fn(Candidate $one): float => $one->clickRate()->ahead($window), $listed);
        rsort($rates);
        $values = $this->values($window, $pool, $rates);
        arsort($values);
        $free = [];
        for ($rank = 1; $rank <= $depth; $rank++) {
            $free[RankGroup::of($rank)][] = $rank;
        }
        $first = $channelLimit->first($earned);
        $channels = array_count_values(
            array_map(static fn(Candidate $one): string => "#$one->channel", $first),
        );
        $limitedRanks = count($channels) > 1 ? count($first) : 0;
        $places = $used = [];
        foreach (array_keys($values) as $key) {
            [$group, $number] = [intdiv($key, 1000), $key % 1000];
            $rank = end($free[$group]);
            if (isset($used[$number]) || $rank === false || $this->impressions[$rank] > $budget) {
                continue;
            }
            $channel = "#{$pool[$number]->channel}";
            if ($rank <= $limitedRanks) {
                if (($channels[$channel] ?? 0) >= $channelLimit->videos) {
                    continue;
                }
                $channels[$channel] = ($channels[$channel] ?? 0) + 1;
            }
            array_pop($free[$group]);
            $used[$number] = true;
            $budget -= $this->impressions[$rank];
            $places[$rank - 1] = $pool[$number];
        }
        ksort($places);

        return $places;
    }

    /**
     * @param list<Candidate> $pool
     * @param list<float> $rates of the list, highest first
     * @return array<int, float> what an impression is worth, where that is positive; by 1000 · rank group + place in the pool
     */
    private function values(Window $window, array $pool, array $rates): array
    {
        $depth = count($rates);
        $steps = [];
        foreach (self::REPRESENTATIVES as $index => $rank) {
            if ($rank <= $depth) {
                $next = self::REPRESENTATIVES[$index + 1] ?? $depth + 1;
                $steps[] = [
                    max(self::LEAST_RATE, $rates[$rank - 1]),
                    $this->perHour[$rank] - ($next > $depth ? 0.0 : $this->perHour[$next]),
                ];
            }
        }
        $groups = [];
        foreach (RankGroup::FIRST_RANKS as $first) {
            if ($first <= $depth) {
                $impressions = $this->perHour[$first] * self::HOURS_TO_NEXT_LIST;
                $last = min($depth, $first + RankGroup::size($first) - 1);
                $groups[$first] = [$impressions, $rates[$last - 1]];
            }
        }
        $isConvex = array_all($steps, static fn(array $step): bool => $step[1] >= 0.0);
        $values = $tables = [];
        foreach ($pool as $number => $candidate) {
            $rate = $candidate->clickRate();
            $octave = (int) round(2 * log($rate->halfGoneHours, 2));
            $table = $tables[$octave] ??= self::table($steps, 2 ** ($octave / 2));
            $mean = $rate->ahead($window);
            $shape = ($rate->mean / $rate->deviation) ** 2;
            $scale = $shape / $rate->mean;
            $now = self::look($table, $mean);
            // No number of impressions teaches more than all that is unknown (and what the quantiles err by): a value that can
            // become no larger is not worked out.
            $most =
                $isConvex && $shape >= self::LEAST_BOUNDED_SHAPE
                    ? 1.5 * abs(self::expected($table, $mean, $shape) - $now) + 0.02 * $now
                    : INF;
            foreach ($groups as $first => [$impressions, $loser]) {
                $cost = ($mean - $loser) * $impressions;
                $gain = 0.0;
                foreach (self::BATCHES as $batch) {
                    if ($most <= $batch * max($gain, -$cost)) {
                        break;
                    }
                    $more = $batch * $impressions;
                    $expected = self::expected($table, $mean, ($shape * ($more + $scale)) / $more);
                    $gain = max($gain, ($expected - $now) / $batch);
                }
                if ($gain + $cost > 0.0) {
                    $values[1000 * $first + $number] = ($gain + $cost) / $impressions;
                }
            }
        }

        return $values;
    }

    /**
     * Of V for a Gamma distribution, by its quantiles (Wilson and Hilferty, 1931).
     *
     * @param list<float> $table
     */
    private static function expected(array $table, float $mean, float $shape): float
    {
        $shape = max(self::LEAST_SHAPE, $shape);
        $middle = 1 - 1 / (9 * $shape);
        $spread = 1 / (3 * sqrt($shape));
        $points = [];
        $all = 0.0;
        foreach (self::QUANTILES as $index => $quantile) {
            $points[$index] = max(0.0, $middle + $quantile * $spread) ** 3;
            $all += self::SHARES[$index] * $points[$index];
        }
        $value = 0.0;
        // Without a call of look() for each: this is most of what trying costs.
        foreach ($points as $index => $point) {
            $rate = ($mean * $point) / $all;
            if ($rate <= self::LEAST_RATE) {
                $value += self::SHARES[$index] * $table[0];
                continue;
            }
            $place = self::TABLE_STEPS * log($rate / self::LEAST_RATE, 2);
            $place = $place < self::TABLE_SIZE - 1.001 ? $place : self::TABLE_SIZE - 1.001;
            $at = (int) $place;
            $value += self::SHARES[$index] * ($table[$at] + ($place - $at) * ($table[$at + 1] - $table[$at]));
        }

        return $value;
    }

    /**
     * V(x) at rates x that grow by the same factor: the integral, over the hours in which x · h / (h + hours) is above c,
     * of the difference, summed over the ranks that it passes.
     *
     * @param list<array{float, float}> $steps rates c, and how many impressions more passing them brings
     * @return list<float>
     */
    private static function table(array $steps, float $halfGone): array
    {
        $table = [];
        for ($index = 0; $index < self::TABLE_SIZE; $index++) {
            $rate = self::LEAST_RATE * 2 ** ($index / self::TABLE_STEPS);
            $value = 0.0;
            foreach ($steps as [$loser, $impressions]) {
                if ($rate > $loser) {
                    $hours = min(ClickModel::HORIZON_HOURS, $halfGone * ($rate / $loser - 1));
                    $value +=
                        $impressions * ($rate * $halfGone * log1p($hours / $halfGone) - $loser * $hours);
                }
            }
            $table[] = $value;
        }

        return $table;
    }

    /** @param list<float> $table */
    private static function look(array $table, float $rate): float
    {
        if ($rate <= self::LEAST_RATE) {
            return $table[0];
        }
        $place = min(self::TABLE_SIZE - 1.001, self::TABLE_STEPS * log($rate / self::LEAST_RATE, 2));
        $index = (int) $place;

        return $table[$index] + ($place - $index) * ($table[$index + 1] - $table[$index]);
    }

    /**
     * @param list<Candidate> $order
     * @param array<int, Candidate> $places by place from 0, in that order
     * @return list<Candidate> the same videos; those that are tried have scores between their neighbours'
     */
    private static function inserted(array $order, array $places): array
    {
        $tried = array_column($places, null, 'videoId');
        $rest = array_values(
            array_filter($order, static fn(Candidate $one): bool => !isset($tried[$one->videoId])),
        );
        $list = [];
        foreach ($rest as $index => $candidate) {
            $run = [];
            while (isset($places[count($list) + count($run)])) {
                $run[] = $places[count($list) + count($run)];
            }
            $above = $index === 0 ? 1.01 * $candidate->score : $rest[$index - 1]->score;
            foreach ($run as $number => $one) {
                $share = ($number + 1) / (count($run) + 1);
                $list[] = $one->triedWith($above + $share * ($candidate->score - $above));
            }
            $list[] = $candidate;
        }

        return $list;
    }
}
