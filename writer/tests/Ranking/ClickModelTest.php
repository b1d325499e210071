<?php

declare(strict_types=1);

namespace TrendVault\Writer\Tests\Ranking;

use PHPUnit\Framework\Attributes\Test;
use PHPUnit\Framework\TestCase;
use TrendVault\Writer\Ranking\ClickModel;
use TrendVault\Writer\Ranking\Contender;
use TrendVault\Writer\Ranking\ClickCounts;
use TrendVault\Writer\Ranking\Traffic;
use TrendVault\Writer\Ranking\Velocity;
use TrendVault\Writer\Simulation\Draws;
use TrendVault\Writer\Tests\Support\Draws as TestDraws;

final class ClickModelTest extends TestCase
{
    private const int NOW = 1_800_000_000;
    /** Three standard deviations of 0.6, and a little for the views that are few. */
    private const float LARGEST_FACTOR = 6.3;

    #[Test]
    public function impressions_lift_no_video_far_above_what_its_views_elsewhere_imply(): void
    {
        $draws = new Draws(TestDraws::seed());
        for ($round = 0; $round < TestDraws::count(usual: 50, long: 2000); $round++) {
            $region = self::region($draws);
            $false = floor(10 ** (2 + 4 * $draws->share()));
            $pushed = (int) (count($region) * $draws->share());
            $region[$pushed] = self::with($region[$pushed], $false);
            $estimate = self::model($region)->rate($pushed);

            $largest = self::LARGEST_FACTOR * $estimate->prior;
            self::assertLessThanOrEqual($largest, $estimate->mean, TestDraws::hint() . ", round $round");
            self::assertTrue(
                $estimate->isHeld || $estimate->prior > 0.05,
                TestDraws::hint() . ", round $round",
            );
        }
    }

    #[Test]
    public function impressions_alone_say_what_a_video_is_worth_that_no_source_counts(): void
    {
        $region = self::region(new Draws(1));
        $region[7] = self::with(
            new Contender('new', 'new', null, self::NOW, Velocity::none(self::NOW), []),
            10_000.0,
        );
        $estimate = self::model($region)->rate(7);

        self::assertGreaterThan(0.9, $estimate->mean);
        self::assertFalse($estimate->isHeld);
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
            self::assertSame(0.0, $traffic->perHour(1));
        }
    }

    /** @param list<Contender> $region */
    private static function model(array $region): ClickModel
    {
        return new ClickModel($region, self::NOW, new Traffic([], self::NOW));
    }

    /** @return list<Contender> counted elsewhere, one in forty impressions leads to a click */
    private static function region(Draws $draws): array
    {
        $contenders = [];
        for ($number = 0; $number < 100; $number++) {
            $publishedAt = self::NOW - (int) (200_000 * $draws->share());
            $contenders[] = new Contender(
                "video-$number",
                "video-$number",
                null,
                $publishedAt,
                Velocity::first(self::NOW, 500 + (int) (10_000 * $draws->factor(1.0)), $publishedAt),
                [self::seen(200.0, 5.0, $publishedAt)],
            );
        }

        return $contenders;
    }

    private static function with(Contender $one, float $false): Contender
    {
        return new Contender($one->videoId, $one->channel, null, $one->publishedAt, $one->velocity, [
            self::seen($false, $false, (int) $one->publishedAt),
        ]);
    }

    private static function seen(float $impressions, float $clicks, int $publishedAt): ClickCounts
    {
        $age = (self::NOW - $publishedAt) / 3600;

        return new ClickCounts(1, ClickCounts::ageGroup($age), $impressions, $clicks, $age, self::NOW);
    }
}
