<?php

declare(strict_types=1);

namespace TrendVault\Writer\Tests\Simulation;

use PHPUnit\Framework\Attributes\Test;
use PHPUnit\Framework\TestCase;
use TrendVault\Writer\Simulation\ClosedLoop;
use TrendVault\Writer\Simulation\NaiveRanker;
use TrendVault\Writer\Simulation\OurRanker;
use TrendVault\Writer\Simulation\Ranker;
use TrendVault\Writer\Simulation\SimulationResult;
use TrendVault\Writer\Simulation\UnknownWorld;
use TrendVault\Writer\Simulation\World;

/** A short world of few videos; `writer simulate` runs the large ones. */
final class ClosedLoopTest extends TestCase
{
    private const float EXPLORE_SHARE = 0.25;
    private const array SMALL = ['births_per_hour' => 2, 'days' => 0.75, 'warm_up_days' => 0.25];

    #[Test]
    public function a_list_that_learns_from_impressions_is_good_where_naive_feedback_freezes(): void
    {
        $world = new World()->with(self::SMALL);

        self::assertGreaterThan(0.85, self::simulate($world, new OurRanker(self::EXPLORE_SHARE))->value());
        self::assertLessThan(0.7, self::simulate($world, new NaiveRanker())->value());
    }

    #[Test]
    public function the_bias_by_rank_is_estimated_where_messages_do_not_tell_how_far_a_visitor_looked(): void
    {
        $world = new World()->with([...self::SMALL, 'says_depth' => false, 'steepness' => 1.4]);

        self::assertGreaterThan(0.85, self::simulate($world, new OurRanker(self::EXPLORE_SHARE))->value());
    }

    #[Test]
    public function a_seed_gives_the_same_run_again(): void
    {
        $world = new World()->with([...self::SMALL, 'days' => 0.3, 'elsewhere_share' => 0.5]);
        $ranker = new OurRanker(self::EXPLORE_SHARE);

        self::assertSame(self::simulate($world, $ranker)->steps, self::simulate($world, $ranker)->steps);
    }

    #[Test]
    public function a_field_that_no_world_has_is_answered_with_those_that_there_are(): void
    {
        $this->expectException(UnknownWorld::class);
        $this->expectExceptionMessageMatches('/steepnes is not known.*loads_per_hour.*steepness/');
        new World()->with(['steepnes' => 1.0]);
    }

    private static function simulate(World $world, Ranker $ranker): SimulationResult
    {
        return new ClosedLoop($world, $ranker, 7)->run(static fn() => null);
    }
}
