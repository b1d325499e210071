<?php

declare(strict_types=1);

namespace TrendVault\Writer\Tests\Ranking;

use Closure;
use PHPUnit\Framework\Attributes\Test;
use PHPUnit\Framework\Attributes\TestWith;
use PHPUnit\Framework\TestCase;
use TrendVault\Writer\Ranking\ClickModel;
use TrendVault\Writer\Ranking\Contender;
use TrendVault\Writer\Ranking\ClickCounts;
use TrendVault\Writer\Ranking\CountedImpressions;
use TrendVault\Writer\Ranking\RankGroup;
use TrendVault\Writer\Ranking\Traffic;
use TrendVault\Writer\Ranking\Velocity;
use TrendVault\Writer\Ranking\VisitorParts;
use TrendVault\Writer\Ranking\Window;
use TrendVault\Writer\Simulation\Draws;
use TrendVault\Writer\Tests\Support\Draws as TestDraws;

final class ClickModelTest extends TestCase
{
    private const int NOW = 1_800_000_000;

    #[Test]
    public function impressions_lift_no_video_far_above_what_its_views_elsewhere_imply(): void
    {
        $draws = new Draws(TestDraws::seed());
        for ($round = 0; $round < TestDraws::count(usual: 50, long: 2000); $round++) {
            $region = self::regionLike($draws, 300, 0.67);
            $false = floor(10 ** (5 + 2 * $draws->share()));
            $pushed = (int) (count($region) * $draws->share());
            $region[$pushed] = self::with($region[$pushed], $false);
            $model = self::model($region);
            $estimate = $model->rate($pushed);

            // As docs/ranking.md has it.
            $deviation = sqrt(0.36 + 0.45 / ($region[$pushed]->velocity->views + 1));
            $factor = exp((3 * $deviation) / min(1, $model->trust / 0.67)) * 1.02;
            $message = TestDraws::hint() . ", round $round";
            self::assertLessThanOrEqual($factor * $estimate->prior, $estimate->mean, $message);
            self::assertTrue($estimate->isHeld || $estimate->prior > 0.95 / $factor, $message);
        }
    }

    #[Test]
    public function a_video_without_a_date_is_as_old_as_its_views_elsewhere_make_it_at_their_rate(): void
    {
        $region = self::regionLike(new Draws(1), 300, 0.67);
        $first = self::NOW - 6 * 3600;
        $prior = static function (?int $publishedAt, int $views) use ($region, $first): float {
            $velocity = new Velocity($first, self::NOW, 7, $views, 54.0, self::NOW, null);

            return self::model([
                new Contender('v', 'v', null, $publishedAt, $velocity, []),
                ...$region,
            ])->rate(0)->prior;
        };
        $born = (int) (100 * 7 * log(13 / 7));

        self::assertEqualsWithDelta(1.0, $prior(null, $born) / $prior($first, $born), 0.1);
        $clickAge = (6 + 7) / (82 + 7); // the clicks take it for new when it is first seen
        $isOld = $prior($first - 76 * 3600, 20_000) / $clickAge;
        self::assertEqualsWithDelta(1.0, $prior(null, 20_000) / $isOld, 0.3);
    }

    #[Test]
    public function where_elsewhere_says_little_of_what_is_wanted_here_it_holds_impressions_less(): void
    {
        $born = self::NOW - 3600;
        $new = new Contender('new', 'new', null, $born, Velocity::first(self::NOW, 300, $born), []);
        $isHeld = static fn(float $trust): bool => self::model([
            self::with($new, 10_000.0),
            ...self::regionLike(new Draws(1), 300, $trust),
        ])->rate(0)->isHeld;

        self::assertSame([true, false], [$isHeld(0.67), $isHeld(0.0)]);
    }

    #[Test]
    public function who_opened_a_video_saw_it_also_where_no_message_says_so(): void
    {
        $region = self::regionLike(new Draws(1), 100, 0.67);
        $rateWith = static fn(float $impressions): float => self::model([
            self::with($region[0], $impressions, 20.0),
            ...array_slice($region, 1),
        ])->rate(0)->mean;

        self::assertSame($rateWith(20.0), $rateWith(0.0));
    }

    #[Test]
    public function impressions_alone_say_what_a_video_is_worth_that_no_source_counts(): void
    {
        $region = self::regionLike(new Draws(1), 100, 0.67);
        $region[7] = self::with(
            new Contender('new', 'new', null, self::NOW, Velocity::none(self::NOW), []),
            10_000.0,
        );
        $estimate = self::model($region)->rate(7);

        self::assertGreaterThan(0.9, $estimate->mean);
        self::assertFalse($estimate->isHeld);
    }

    #[Test]
    public function a_region_learns_whether_elsewhere_likes_what_is_wanted_here(): void
    {
        foreach (TestDraws::measuredSeeds(5) as $seed) {
            $alike = self::model(self::regionLike(new Draws($seed), 300, 0.67))->trust;
            $other = self::model(self::regionLike(new Draws($seed), 300, 0.0))->trust;

            self::assertGreaterThan(0.5, $alike, TestDraws::hint());
            self::assertLessThan(0.33, $other, TestDraws::hint());
        }
    }

    #[Test]
    public function it_is_not_taken_for_another_taste_that_what_is_popular_elsewhere_stands_where_few_click(): void
    {
        $draws = new Draws(TestDraws::measuredSeeds(1)[0]);
        $region = [];
        for ($number = 0; $number < 300; $number++) {
            $elsewhere = 1.2 * $draws->normal();
            $rate = 0.04 * exp(0.67 * $elsewhere) * $draws->factor(0.7);
            $one = new Contender(
                "video-$number",
                'one',
                null,
                self::NOW - 3600,
                Velocity::first(self::NOW, $draws->count(1000 * exp($elsewhere)), self::NOW - 3600),
                [],
            );
            foreach ([1 => 1.0, 33 => 0.05] as $rank => $bias) {
                $impressions = ($rank === 33) === $elsewhere > 0.0 ? 1000.0 : 50.0;
                $clicks = min($impressions, $draws->count($impressions * $bias * $rate));
                $one = self::with($one, $impressions, $clicks, $rank);
            }
            $region[] = $one;
        }

        self::assertGreaterThan(0.5, self::model($region)->trust, TestDraws::hint());
    }

    #[Test]
    public function false_messages_about_up_to_ten_videos_move_the_trust_in_elsewhere_by_less_than_a_step(): void
    {
        foreach (TestDraws::measuredSeeds(TestDraws::count(usual: 12, long: 300)) as $seed) {
            $draws = new Draws($seed);
            $region = self::regionLike($draws, 100 + $draws->below(300), $draws->share());
            $trust = self::model($region)->trust;
            usort(
                $region,
                static fn(Contender $a, Contender $b): int => $a->velocity->viewsPerHour <=>
                    $b->velocity->viewsPerHour,
            );
            // What nobody views elsewhere is opened by all, and what is viewed most by nobody; or the other way round.
            $lowestIsOpened = $draws->below(2) === 0;
            for ($number = $draws->below(10); $number >= 0; $number--) {
                $isLow = $number % 2 === 0;
                $index = $isLow ? intdiv($number, 2) : count($region) - 1 - intdiv($number, 2);
                $impressions = floor(10 ** (2 + 4 * $draws->share()));
                $clicks = $isLow === $lowestIsOpened ? $impressions : 0.0;
                $rank = 1 + $draws->below(60);
                $region[$index] = self::with($region[$index], $impressions, $clicks, $rank);
            }

            self::assertEqualsWithDelta($trust, self::model($region)->trust, 0.25, TestDraws::hint());
        }
    }

    #[Test]
    public function over_a_window_a_video_is_expected_to_have_the_mean_of_its_hours(): void
    {
        $draws = new Draws(TestDraws::seed());
        $hours = [[Window::Now, 0.5], [Window::Day, 24], [Window::Week, 168]];
        foreach ([[], self::regionLike($draws, 100, 0.67)] as $region) {
            $model = self::model($region);
            for ($round = 0; $round < TestDraws::count(usual: 5, long: 50); $round++) {
                $age = 0.1 + 200 * $draws->share();
                foreach ($hours as [$window, $length]) {
                    $sum = 0.0;
                    for ($part = 0.5; $part < 500; $part++) {
                        $sum += $model->rateOfUnknown(self::unknown($age + ($length * $part) / 500))->mean;
                    }
                    $mean = $sum / 500;
                    $ahead = $model->rateOfUnknown(self::unknown($age))->ahead($window);

                    self::assertEqualsWithDelta($mean, $ahead, 0.01 * $mean, TestDraws::hint());
                }
            }
        }
    }

    #[Test]
    #[TestWith([0.02, 0.3, 0.2])]
    #[TestWith([0.2, 0.02, 0.1])]
    public function videos_that_never_age_are_told_from_news_of_the_same_region(
        float $rateOfOld,
        float $rateOfNews,
        float $leastGap,
    ): void {
        foreach (TestDraws::measuredSeeds(TestDraws::count(usual: 3, long: 100)) as $seed) {
            $draws = new Draws($seed);
            $region = $rates = [];
            for ($video = 0; $video < 60; $video++) {
                $factor = $draws->factor(0.5);
                [$rate, $taper] = $video % 2 === 0 ? [$rateOfOld * $factor, 1e9] : [$rateOfNews * $factor, 3];
                $left = static fn(float $age): float => $taper / ($age + $taper);
                $region[] = self::shownFor(
                    24 + $draws->below(100),
                    200,
                    static fn(float $seen, int $hour): int => $draws->count(
                        $seen * $rate * $left($hour + 0.5),
                    ),
                );
                $rates[$video] = static fn(float $age): float => $rate * $left($age);
            }
            $model = self::model($region);
            $kept = [0.0, 0.0];
            foreach (array_keys($region) as $video) {
                $rate = $model->rate($video);
                $kept[$video % 2] += $rate->ahead(Window::Week) / $rate->mean / 30;
                // Against which its own counts are held: they are no part of it.
                $prior = $model->rateOfUnknown($region[$video])->prior;
                self::assertEqualsWithDelta($prior, $rate->prior, 1e-9, TestDraws::hint());
            }
            self::assertGreaterThan($kept[1] + $leastGap, $kept[0], TestDraws::hint());
            foreach ([1, 10, 100] as $age) {
                $expected = array_sum(array_map(static fn(Closure $rate): float => $rate($age), $rates)) / 60;
                $unknown = $model->rateOfUnknown(self::unknown($age))->mean;
                self::assertEqualsWithDelta($expected, $unknown, 0.3 * $expected, TestDraws::hint());
            }
        }
    }

    #[Test]
    public function few_videos_that_never_age_are_not_taken_for_news_among_many_that_are(): void
    {
        $share = 0.03;
        $found = 0.0;
        foreach (TestDraws::measuredSeeds(40) as $seed) {
            $draws = new Draws($seed);
            $region = [];
            for ($number = 0; $number < 600; $number++) {
                $taper = $draws->share() < $share ? 1e9 : 7;
                $ageHours = ($number % 2 === 0 ? 200 : 2000) * $draws->share();
                $rate = (0.04 * $draws->factor(1.0) * $taper) / ($ageHours + $taper);
                $impressions = 1 + floor(300 * $draws->factor(1.5));
                $clicks = min($impressions, $draws->count($impressions * $rate));
                $region[] = self::with(self::unknown($ageHours), $impressions, $clicks);
            }
            $expected = 0.04 * ($share + ((1 - $share) * 7) / 1007);
            $found += self::model($region)->rateOfUnknown(self::unknown(1000))->mean / $expected / 40;
        }

        self::assertGreaterThan(0.47, $found, TestDraws::hint());
    }

    #[Test]
    public function where_few_look_at_low_ranks_a_new_video_is_not_taken_for_one_that_few_want(): void
    {
        foreach (TestDraws::measuredSeeds(TestDraws::count(usual: 3, long: 100)) as $seed) {
            $draws = new Draws($seed);
            $region = [];
            for ($number = 100 + $draws->below(200); $number > 0; $number--) {
                $ageHours = 55 * $draws->share();
                $rate = ((0.04 * 7) / ($ageHours + 7)) * $draws->factor(0.7);
                $one = self::unknown($ageHours);
                foreach ([1 + $draws->below(24), 1 + $draws->below(24)] as $rank) {
                    $one = self::with($one, 20_000.0, $draws->count(20_000 * $rank ** -0.9 * $rate), $rank);
                }
                $region[] = $one;
            }
            $model = self::model($region);
            foreach ([3, 30] as $ageHours) {
                $rate = $model->rateOfUnknown(self::unknown($ageHours))->mean;

                self::assertGreaterThan((0.5 * 0.04 * 7) / ($ageHours + 7), $rate, TestDraws::hint());
            }
        }
    }

    #[Test]
    public function one_video_with_false_clicks_neither_doubles_nor_halves_how_often_a_new_one_is_expected_to_be_opened(): void
    {
        $draws = new Draws(TestDraws::seed());
        for ($round = 0; $round < TestDraws::count(usual: 20, long: 1000); $round++) {
            $region = [];
            for ($number = 20 + $draws->below(200); $number > 0; $number--) {
                $ageHours = 55 * $draws->share();
                $impressions = 1 + floor(1000 * $draws->factor(1.0));
                $rate = ((0.04 * 7) / ($ageHours + 7)) * $draws->factor(0.7);
                $clicks = min($impressions, $draws->count($impressions * $rate));
                $region[] = self::with(self::unknown($ageHours), $impressions, $clicks);
            }
            $impressions = floor(10 ** (2 + 4 * $draws->share()));
            $false = self::with(
                self::unknown(100 + 2000 * $draws->share()),
                $impressions,
                floor($impressions * $draws->share()),
            );
            [$without, $with] = [self::model($region), self::model([...$region, $false])];
            foreach ([0, 3, 30] as $ageHours) {
                $new = self::unknown($ageHours);
                $change = log($with->rateOfUnknown($new)->mean / $without->rateOfUnknown($new)->mean);

                self::assertEqualsWithDelta(0.0, $change, log(2), TestDraws::hint() . ", round $round");
            }
        }
    }

    #[Test]
    public function where_only_old_videos_were_seen_a_new_one_is_not_promised_what_none_of_them_has(): void
    {
        foreach (TestDraws::measuredSeeds(TestDraws::count(usual: 5, long: 100)) as $seed) {
            $draws = new Draws($seed);
            $model = self::model(self::oldVideos($draws, 20 + $draws->below(300)));

            self::assertLessThan(0.25, $model->rateOfUnknown(self::unknown(0))->mean, TestDraws::hint());
        }
    }

    #[Test]
    public function four_old_videos_say_less_of_how_videos_age_than_a_hundred(): void
    {
        $kept = [4 => 0.0, 100 => 0.0];
        foreach (TestDraws::measuredSeeds(20) as $seed) {
            foreach (array_keys($kept) as $videos) {
                $new = self::model(self::oldVideos(new Draws($seed), $videos))->rateOfUnknown(
                    self::unknown(0),
                );
                $kept[$videos] += $new->ahead(Window::Week) / $new->mean / 20;
            }
        }

        self::assertLessThan(0.88, $kept[4], TestDraws::hint());
        self::assertGreaterThan(0.98, $kept[100], TestDraws::hint());
    }

    #[Test]
    public function a_burst_long_after_birth_is_found_and_explained_within_three_hours(): void
    {
        foreach (TestDraws::measuredSeeds(TestDraws::count(usual: 10, long: 300)) as $seed) {
            $draws = new Draws($seed);
            $region = self::regionLike($draws, 100, 0.67);
            $ageHours = 24 + $draws->below(48);
            [$before, $since] = [0.01 + 0.02 * $draws->share(), 0.1 + 0.2 * $draws->share()];
            $clicksOf = static fn(float $impressions, int $hour): int => $draws->count(
                $impressions * ($hour < $ageHours - 3 ? $before : $since),
            );
            $region[] = self::shownFor($ageHours, 4000 + 3000 * $draws->share(), $clicksOf);
            $rate = self::model($region)->rate(100);
            $explained = VisitorParts::of($region[100]->counts, 1.0, $rate, self::NOW);

            self::assertGreaterThan(0.45 * $since, $rate->mean, TestDraws::hint());
            self::assertGreaterThan(
                0.45 * $since,
                $explained->clicks / $explained->impressions,
                TestDraws::hint(),
            );
        }
    }

    #[Test]
    public function what_a_hundred_senders_get_counted_on_a_video_says_no_more_than_before_bursts_were_looked_for(): void
    {
        $draws = new Draws(TestDraws::seed());
        for ($round = 0; $round < TestDraws::count(usual: 30, long: 1000); $round++) {
            $region = self::regionLike($draws, 100, 0.67);
            $ageHours = 6 + $draws->below(60);
            $false = $draws->below(360);
            $clicksOf = static fn(float $impressions, int $hour): int => ($hour === $ageHours - 1
                ? $false
                : 0) + min(10, $draws->count(0.01 * $impressions));
            $pushed = self::shownFor($ageHours, 1000 * $draws->share(), $clicksOf);
            $rate = self::model([...$region, $pushed])->rate(100)->mean;

            self::assertSame(
                self::model([...$region, self::withoutRecent($pushed)])->rate(100)->mean,
                $rate,
                TestDraws::hint() . ", round $round",
            );
        }
    }

    #[Test]
    public function a_later_date_does_not_lift_a_video_above_how_often_it_was_opened(): void
    {
        $draws = new Draws(TestDraws::seed());
        for ($round = 0; $round < TestDraws::count(usual: 30, long: 1000); $round++) {
            $region = self::regionLike($draws, 300, 0.67);
            $clicksOf = static fn(float $seen, int $hour): int => $draws->count(
                $seen * 0.3 * (7 / ($hour + 7)),
            );
            $old = self::shownFor(24 + $draws->below(200), 1000, $clicksOf);
            $laterHours = ($draws->share() * (self::NOW - (int) $old->publishedAt)) / 3600;

            self::assertLessThan(
                1.1,
                self::rateIfDated($old, $laterHours, $region),
                TestDraws::hint() . ", round $round",
            );
        }
    }

    #[Test]
    public function an_earlier_date_does_not_sink_a_video_below_how_often_it_was_opened(): void
    {
        $draws = new Draws(TestDraws::seed());
        for ($round = 0; $round < TestDraws::count(usual: 10, long: 300); $round++) {
            $region = self::regionLike($draws, 300, 0.67);
            $hours = 300 * 10 ** $draws->share();
            $clicksOf = static fn(float $seen, int $hour): int => $draws->count(
                $seen * 0.3 * (7 / ($hour + $hours + 7)),
            );
            $new = self::shownFor(24 + $draws->below(200), 10_000, $clicksOf);

            self::assertGreaterThan(
                0.5,
                self::rateIfDated($new, -$hours, $region),
                TestDraws::hint() . ", round $round",
            );
        }
    }

    #[Test]
    public function a_steady_audience_is_what_it_is_after_a_quarter_of_an_hour_and_after_a_month(): void
    {
        $draws = new Draws(TestDraws::seed());
        foreach ([1, 2, 4, 96, 2880] as $quarters) {
            $perHour = 1 + 10_000 * $draws->share();
            $sums = [];
            for ($at = self::NOW - 900 * $quarters; $at < self::NOW; $at += 900) {
                $sums = Traffic::plus($sums, 25, (8 * $perHour) / 4, $at, $at + 900);
            }
            $traffic = new Traffic($sums, self::NOW);

            self::assertEqualsWithDelta($perHour, $traffic->perHour(25), 0.01 * $perHour, TestDraws::hint());
            self::assertSame(
                $traffic->perHour(25),
                $traffic->perHour(1),
                'who sees a rank has seen those above',
            );
            self::assertSame(0.0, $traffic->perHour(33));
        }
    }

    /**
     * The rate of a video of that region whose date a source moves by so many hours, in parts of how often it was opened.
     *
     * @param list<Contender> $region
     */
    private static function rateIfDated(Contender $one, float $laterHours, array $region): float
    {
        $publishedAt = (int) round((int) $one->publishedAt + 3600 * $laterHours);
        $dated = new Contender(
            'dated',
            'shown',
            null,
            $publishedAt,
            Velocity::none($publishedAt),
            $one->counts,
        );
        [$impressions, $clicks] = ClickCounts::sums($one->counts, self::NOW);

        return self::model([...$region, $dated])->rate(count($region))->mean / ($clicks / $impressions);
    }

    private static function unknown(float $ageHours): Contender
    {
        $publishedAt = self::NOW - (int) round(3600 * $ageHours);

        return new Contender('unknown', 'unknown', null, $publishedAt, Velocity::none($publishedAt), []);
    }

    /** @param list<Contender> $region */
    private static function model(array $region): ClickModel
    {
        return new ClickModel($region, self::NOW, new Traffic([], self::NOW));
    }

    /**
     * That never age.
     *
     * @return list<Contender>
     */
    private static function oldVideos(Draws $draws, int $videos): array
    {
        $region = [];
        for ($number = 0; $number < $videos; $number++) {
            $impressions = 1 + floor(500 * $draws->factor(1.0));
            $clicks = min($impressions, $draws->count(0.04 * $draws->factor(1.0) * $impressions));
            $region[] = self::with(self::unknown(1000 + 19_000 * $draws->share()), $impressions, $clicks);
        }

        return $region;
    }

    /**
     * @param float $trust how much of a difference elsewhere is one here
     * @return list<Contender>
     */
    private static function regionLike(Draws $draws, int $videos, float $trust): array
    {
        $contenders = [];
        for ($number = 0; $number < $videos; $number++) {
            $publishedAt = self::NOW - (int) (200_000 * $draws->share());
            $left = 7 / ((self::NOW - $publishedAt) / 3600 + 7);
            $elsewhere = 1.2 * $draws->normal();
            $rate = 0.04 * exp($trust * $elsewhere) * $draws->factor(0.7) * $left;
            $impressions = 1 + floor(1000 * $draws->factor(1.0));
            $contenders[] = new Contender(
                "video-$number",
                "video-$number",
                null,
                $publishedAt,
                Velocity::first(
                    self::NOW,
                    $draws->count(3000 * exp($elsewhere) * log(1 / $left)),
                    $publishedAt,
                ),
                [
                    self::seen(
                        $impressions,
                        min($impressions, $draws->count($impressions * $rate)),
                        $publishedAt,
                    ),
                ],
            );
        }

        return $contenders;
    }

    /**
     * On the first rank since it was published.
     *
     * @param Closure(float, int): int $clicksOf the impressions of one hour
     */
    private static function shownFor(int $ageHours, float $perHour, Closure $clicksOf): Contender
    {
        $publishedAt = self::NOW - 3600 * $ageHours;
        $counts = [];
        for ($hour = 0; $hour < $ageHours; $hour++) {
            $at = $publishedAt + 3600 * ($hour + 1);
            $clicks = $clicksOf($perHour, $hour);
            $new = new CountedImpressions($at, 'GB', 'shown', 1, $perHour, $clicks)->at($publishedAt);
            $before = $counts[$new->ageGroup] ?? null;
            $counts[$new->ageGroup] = $before === null ? $new : $before->plus($new);
        }
        $velocity = Velocity::none($publishedAt);

        return new Contender('shown', 'shown', null, $publishedAt, $velocity, array_values($counts));
    }

    private static function withoutRecent(Contender $one): Contender
    {
        $counts = array_map(
            static fn(ClickCounts $some): ClickCounts => new ClickCounts(
                $some->rankGroup,
                $some->ageGroup,
                $some->impressions,
                $some->clicks,
                $some->ageHours,
                $some->countedAt,
            ),
            $one->counts,
        );

        return new Contender($one->videoId, $one->channel, null, $one->publishedAt, $one->velocity, $counts);
    }

    /** With more messages about it. */
    private static function with(
        Contender $one,
        float $impressions,
        ?float $clicks = null,
        int $rank = 1,
    ): Contender {
        return new Contender($one->videoId, $one->channel, null, $one->publishedAt, $one->velocity, [
            ...$one->counts,
            self::seen($impressions, $clicks ?? $impressions, (int) $one->publishedAt, $rank),
        ]);
    }

    private static function seen(
        float $impressions,
        float $clicks,
        int $publishedAt,
        int $rank = 1,
    ): ClickCounts {
        $age = (self::NOW - $publishedAt) / 3600;
        $group = RankGroup::of($rank);

        return new ClickCounts($group, ClickCounts::ageGroup($age), $impressions, $clicks, $age, self::NOW);
    }
}
