<?php

declare(strict_types=1);

namespace TrendVault\Writer\Tests\Simulation;

use Override;
use PHPUnit\Framework\Attributes\Test;
use PHPUnit\Framework\Attributes\TestWith;
use PHPUnit\Framework\TestCase;
use TrendVault\Writer\Ranking\Traffic;
use TrendVault\Writer\Simulation\ClosedLoop;
use TrendVault\Writer\Simulation\OurRanker;
use TrendVault\Writer\Simulation\Ranker;
use TrendVault\Writer\Simulation\SenderCells;
use TrendVault\Writer\Simulation\SimulationResult;
use TrendVault\Writer\Simulation\World;
use TrendVault\Writer\WriterException;

/** A short world of few videos; `writer simulate` runs the large ones. */
final class ClosedLoopTest extends TestCase
{
    private const float EXPLORE_SHARE = 0.25;
    private const array SMALL = ['births_per_hour' => 2, 'days' => 0.75, 'warm_up_days' => 0.25];

    #[Test]
    public function a_list_that_learns_from_impressions_is_good(): void
    {
        $world = new World()->with(self::SMALL);

        self::assertGreaterThan(0.85, self::simulate($world, new OurRanker(self::EXPLORE_SHARE))->value());
    }

    #[Test]
    public function the_bias_by_rank_is_estimated_where_messages_do_not_tell_how_far_a_visitor_looked(): void
    {
        $world = new World()->with([
            ...self::SMALL,
            'says_depth' => false,
            'steepness' => 1.4,
            'burst_share' => 0, // the course of one burst would decide the value
        ]);

        self::assertGreaterThan(0.85, self::simulate($world, new OurRanker(self::EXPLORE_SHARE))->value());
    }

    #[Test]
    public function a_seed_gives_the_same_run_again(): void
    {
        $world = new World()->with([...self::SMALL, 'days' => 0.3, 'elsewhere_share' => 0.5]);
        $ranker = new OurRanker(self::EXPLORE_SHARE);

        self::assertEquals(self::simulate($world, $ranker), self::simulate($world, $ranker));
    }

    #[Test]
    public function what_is_ranked_anew_for_days_needs_no_search_for_cycles_in_memory(): void
    {
        gc_collect_cycles();
        gc_disable(); // as main.php does
        self::simulate(
            new World()->with([...self::SMALL, 'days' => 0.3]),
            new OurRanker(self::EXPLORE_SHARE),
        );
        $found = gc_collect_cycles();
        gc_enable();

        self::assertSame(0, $found);
    }

    #[Test]
    public function an_attack_leaves_births_and_views_elsewhere_as_they_are(): void
    {
        $world = new World()->with([
            ...self::SMALL,
            'days' => 0.3,
            'elsewhere_share' => 0.5,
            'attack_from_hour' => 1,
        ]);
        $last = static function (World $world): array {
            $ranker = new class implements Ranker {
                /** @var array<string, array{float, int}> */
                public array $videos = [];

                #[Override]
                public function ranked(array $videos, Traffic $traffic, int $now): array
                {
                    foreach ($videos as $video) {
                        $chance = $video->chance(new World(), $video->bornAt);
                        $this->videos[$video->id] = [$chance, $video->elsewhereViews];
                    }

                    return $videos;
                }
            };
            self::simulate($world, $ranker);

            return $ranker->videos;
        };

        self::assertSame($last($world), $last($world->with(['attack_share' => 0.5])));
    }

    #[Test]
    public function one_sender_of_most_messages_pushes_a_video_no_further_than_one_click_an_hour(): void
    {
        $fields = [
            'old_videos' => 200,
            'life_hours' => null,
            'elsewhere_share' => 0.5,
            'loads_per_hour' => 1500,
        ];
        $attack = [
            'attack_share' => 0.6,
            'attack_from_hour' => 6,
            'attacked_rank' => 100,
            'ceiling_factor' => 0,
        ];
        $world = new World()->with([
            ...self::SMALL,
            ...$fields,
            ...$attack,
            'days' => 0.4,
            'list_minutes' => 15,
        ]);
        $ranker = new OurRanker(self::EXPLORE_SHARE);
        $attacked = self::simulate($world, $ranker);
        $alone = self::simulate($world->with(['attack_share' => 0]), $ranker);

        self::assertGreaterThan(24, min($attacked->pushedTo));
        self::assertEqualsWithDelta($alone->value(), $attacked->value(), 0.05);
        $believed = self::simulate($world->with(['has_sender_cells' => false]), $ranker);
        // There only what its views elsewhere imply holds it.
        self::assertLessThan(25, min($believed->pushedTo));
    }

    #[Test]
    public function messages_of_one_sender_that_a_video_was_seen_and_not_opened_hardly_push_it_down(): void
    {
        $world = new World()->with([
            ...self::SMALL,
            'old_videos' => 200,
            'life_hours' => null,
            'taper_hours' => null,
            'days' => 0.4,
            'list_minutes' => 15,
            'attack_from_hour' => 6,
            'attacked_rank' => 10,
            'pushes_down' => true,
            'attack_share' => 0.3,
        ]);
        $median = static fn(World $world): int => self::simulate(
            $world,
            new OurRanker(self::EXPLORE_SHARE),
        )->pushedTo(0.5);
        $alone = $median($world->with(['attack_share' => 0]));

        self::assertEqualsWithDelta($alone, $median($world), 3);
        self::assertGreaterThan($alone + 5, $median($world->with(['has_sender_cells' => false])));
    }

    #[Test]
    public function clicks_and_messages_count_as_the_vectors_say_here_and_at_the_edge(): void
    {
        $names = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';
        $file = (string) file_get_contents(__DIR__ . '/../../../contract/sender-cells-vectors.json');
        $cells = new SenderCells();
        $judge = static fn(string $told, callable $isCounted): string => implode(
            '',
            array_map(
                static fn(string $one): int => $isCounted($one[0], (int) strpos($names, $one[1])),
                str_split($told, 2),
            ),
        );
        foreach (json_decode($file, true)['hours'] as $hour) {
            $cells->openHour();
            $clicks = $judge(
                $hour['clicks'],
                static fn(string $video, int $cell): int => (int) $cells->isCounted($video, $cell),
            );
            $messages = $judge(
                $hour['messages'],
                static fn(string $depth, int $cell): int => $cells->isTaken($cell)
                    ? 1 + (int) $cells->isSeen([$depth, $depth < 'c' ? 'rough' : 'deep'], $cell)
                    : 0,
            );

            self::assertSame([$hour['counted'], $hour['judged']], [$clicks, $messages]);
        }
    }

    #[Test]
    public function a_field_that_no_world_has_is_answered_with_those_that_there_are(): void
    {
        $this->expectException(WriterException::class);
        $this->expectExceptionMessageMatches('/steepnes is not known.*loads_per_hour.*steepness/');
        new World()->with(['steepnes' => 1.0]);
    }

    /** @param array<string, float|int> $fields */
    #[Test]
    #[
        TestWith([
            'evergreen_share is not known or cannot be so, expected a number from 0 to 1, ',
            ['evergreen_share' => 1.5],
        ]),
    ]
    #[TestWith(['burst_share ', ['burst_share' => -0.1]])]
    #[TestWith(['dated_share ', ['dated_share' => 1.01]])]
    #[TestWith(['elsewhere_share ', ['elsewhere_share' => 1]])]
    #[
        TestWith([
            'births_per_hour is not known or cannot be so, expected a number from 0.0001 ',
            ['births_per_hour' => 0],
        ]),
    ]
    #[TestWith(['appeal_mean ', ['appeal_mean' => 0]])]
    #[TestWith(['old_videos ', ['old_videos' => INF]])]
    #[TestWith(['life_hours of at least 1 / births_per_hour', ['life_hours' => 2, 'births_per_hour' => 0.4]])]
    #[TestWith(['more days than warm_up_days', ['days' => 1]])]
    public function a_world_that_cannot_be_is_refused_with_what_was_expected(
        string $expected,
        array $fields,
    ): void {
        $this->expectException(WriterException::class);
        $this->expectExceptionMessage($expected);
        new World()->with($fields);
    }

    private static function simulate(World $world, Ranker $ranker): SimulationResult
    {
        return new ClosedLoop($world, $ranker, 7)->run(static fn() => null);
    }
}
