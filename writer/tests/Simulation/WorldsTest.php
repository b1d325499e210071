<?php

declare(strict_types=1);

namespace TrendVault\Writer\Tests\Simulation;

use PHPUnit\Framework\Attributes\DataProvider;
use PHPUnit\Framework\Attributes\Test;
use PHPUnit\Framework\TestCase;
use TrendVault\Writer\Simulation\ClosedLoop;
use TrendVault\Writer\Simulation\KnowsTheLaw;
use TrendVault\Writer\Simulation\OurRanker;
use TrendVault\Writer\Simulation\PlainBayes;
use TrendVault\Writer\Simulation\Ranker;
use TrendVault\Writer\Simulation\World;
use TrendVault\Writer\Tests\Support\Draws;

/** A list learns on every kind of site, as well as one that was told how fast its videos age. */
final class WorldsTest extends TestCase
{
    private const float EXPLORE_SHARE = 0.25;
    /** How far two runs of the same seed may differ by chance: visitors draw anew after the first list. */
    private const float NOISE = 0.02;
    private const array EACH = ['list_minutes' => 15, 'life_hours' => null, 'burst_share' => 0];

    /** @return iterable<string, array{array<string, mixed>, float}> the world, and the least value */
    public static function worlds(): iterable
    {
        $short = [...self::EACH, 'days' => 1, 'warm_up_days' => 0.5, 'loads_per_hour' => 20_000];
        yield 'videos that never age' => [
            [...$short, 'old_videos' => 500, 'births_per_hour' => 1, 'taper_hours' => null],
            0.95,
        ];
        yield 'news of an hour' => [
            [...$short, 'old_videos' => 1, 'births_per_hour' => 20, 'taper_hours' => 1],
            0.88,
        ];
        yield 'news without dates of publication' => [
            [...$short, 'old_videos' => 1, 'births_per_hour' => 20, 'taper_hours' => 1, 'dated_share' => 0],
            0.88,
        ];
        yield 'news, and a tenth that never ages' => [
            [
                ...$short,
                'old_videos' => 300,
                'births_per_hour' => 12,
                'taper_hours' => 2.5,
                'evergreen_share' => 0.1,
            ],
            0.94,
        ];
        yield from getenv('TEST_LONG') ? self::longWorlds() : [];
    }

    /** @return iterable<string, array{array<string, mixed>, float}> the world, and the least value */
    private static function longWorlds(): iterable
    {
        $long = [...self::EACH, 'days' => 3, 'warm_up_days' => 2, 'loads_per_hour' => 20_000];
        $library = [...$long, 'old_videos' => 2000, 'births_per_hour' => 4, 'taper_hours' => null];
        $days = [...$long, 'life_hours' => 75, 'births_per_hour' => 12, 'burst_share' => 0.05];
        yield 'a library' => [$library, 0.95];
        yield 'a library without dates of publication' => [[...$library, 'dated_share' => 0], 0.95];
        yield 'a library that is viewed elsewhere, too' => [[...$library, 'elsewhere_share' => 0.5], 0.9];
        yield 'fast news' => [
            [...$long, 'old_videos' => 1, 'births_per_hour' => 25, 'taper_hours' => 2.5],
            0.9,
        ];
        yield 'fast news, half of them without dates' => [
            [
                ...$long,
                'old_videos' => 1,
                'births_per_hour' => 25,
                'taper_hours' => 2.5,
                'dated_share' => 0.5,
            ],
            0.9,
        ];
        yield 'videos of a week' => [
            [...$long, 'old_videos' => 300, 'births_per_hour' => 4, 'taper_hours' => 24],
            0.95,
        ];
        yield 'videos of a day' => [$days, 0.9];
        yield 'videos of a day, and another taste elsewhere' => [
            [...$days, 'elsewhere_share' => 0.5, 'elsewhere_is_other' => true],
            0.9,
        ];
        $mixed = [...$long, 'old_videos' => 600, 'births_per_hour' => 12, 'taper_hours' => 7];
        yield 'videos of a day, and a tenth that never ages' => [[...$mixed, 'evergreen_share' => 0.1], 0.95];
        // In some draws the law itself gets no more than 0.83.
        yield 'videos of a day, and few visitors' => [[...$days, 'loads_per_hour' => 500], 0.8];
    }

    /** @param array<string, mixed> $fields */
    #[Test]
    #[DataProvider('worlds')]
    public function a_list_is_as_good_as_its_references_however_fast_videos_age(
        array $fields,
        float $least,
    ): void {
        $world = new World()->with($fields);
        $ours = self::value($world, new OurRanker(self::EXPLORE_SHARE));

        self::assertGreaterThan($least, $ours, Draws::hint());
        self::assertGreaterThan(self::value($world, new PlainBayes()) - self::NOISE, $ours, Draws::hint());
        self::assertGreaterThan(0.95 * self::law($world), $ours, Draws::hint());
    }

    /** The best of the widths of exploration: which one is right depends on the world. */
    private static function law(World $world): float
    {
        return max(
            array_map(
                static fn(float $width): float => self::value($world, new KnowsTheLaw($world, $width)),
                [0.5, 2.0, 4.0],
            ),
        );
    }

    private static function value(World $world, Ranker $ranker): float
    {
        return new ClosedLoop($world, $ranker, Draws::measuredSeeds(1)[0])->run(static fn() => null)->value();
    }
}
