<?php

declare(strict_types=1);

namespace TrendVault\Writer\Tests\Ranking;

use PHPUnit\Framework\Attributes\Test;
use PHPUnit\Framework\TestCase;
use TrendVault\Writer\Database\Database;
use TrendVault\Writer\Ranking\ClickCounts;
use TrendVault\Writer\Ranking\CountedImpressions;
use TrendVault\Writer\Ranking\ImpressionStore;
use TrendVault\Writer\Ranking\RankGroup;
use TrendVault\Writer\Ranking\Window;
use TrendVault\Writer\Tests\Support\Draws;
use TrendVault\Writer\Tests\Support\FixedClock;
use TrendVault\Writer\Tests\Support\MigratedDatabase;

final class ImpressionStoreTest extends TestCase
{
    private const string ADD_VIDEO = <<<'SQL'
    INSERT INTO videos (id, title, channel, published_at, thumb_base, first_seen_at) VALUES (?, 'Title', 'Channel', ?, 'https://t.example/', ?)
    SQL;

    #[Test]
    public function the_order_in_which_minutes_arrive_and_how_they_are_batched_changes_nothing(): void
    {
        mt_srand(Draws::seed());
        $counts = [];
        for ($index = 0; $index < 200; $index++) {
            $counts[] = new CountedImpressions(
                FixedClock::NOON + 60 * mt_rand(0, 3000),
                ['GB', 'FR'][mt_rand(0, 1)],
                ['a', 'b', '7'][mt_rand(0, 2)],
                mt_rand(1, 60),
                mt_rand(0, 1000) / 10,
                mt_rand(0, 100) / 10,
            );
        }
        $inOrder = self::database();
        new ImpressionStore($inOrder)->add($counts);
        shuffle($counts);
        $shuffled = self::database();
        foreach (array_chunk($counts, 7) as $batch) {
            new ImpressionStore($shuffled)->add($batch);
        }

        $expected = self::impressions($inOrder);
        $actual = self::impressions($shuffled);
        self::assertSame(array_keys($expected), array_keys($actual), Draws::hint());
        foreach ($expected as $key => $row) {
            self::assertEqualsWithDelta($row, $actual[$key], 1e-6, Draws::hint() . ", $key");
        }
    }

    #[Test]
    public function an_impression_counts_half_after_four_days(): void
    {
        $database = self::database();
        $store = new ImpressionStore($database);
        $store->add([new CountedImpressions(FixedClock::NOON, 'GB', 'old', 1, 8.0, 4.0)]);
        $later = FixedClock::NOON + 4 * 86_400;
        $store->add([new CountedImpressions($later, 'GB', 'old', 1, 1.0, 1.0)]);

        ['GB old 1 11' => $row] = self::impressions($database);
        self::assertEqualsWithDelta(5.0, $row['impressions'], 1e-9);
        self::assertEqualsWithDelta(3.0, $row['clicks'], 1e-9);
        self::assertSame($later, $row['counted_at']);
    }

    #[Test]
    public function ages_are_grouped_by_doublings_from_half_an_hour_on(): void
    {
        $groups = array_map(ClickCounts::ageGroup(...), [0.0, 0.5, 0.51, 1.0, 1.01, 2.0, 512.0, 513.0, 1e6]);

        self::assertSame([0, 0, 1, 1, 2, 2, 10, 11, 11], $groups);
    }

    #[Test]
    public function ranks_are_grouped_by_the_first_of_each_group(): void
    {
        $groups = array_map(RankGroup::of(...), [1, 2, 6, 7, 8, 24, 25, 96, 97, 500]);

        self::assertSame([1, 2, 6, 6, 8, 21, 25, 49, 97, 97], $groups);
    }

    #[Test]
    public function impressions_of_a_video_that_is_not_known_are_left_out(): void
    {
        $database = self::database();

        self::assertSame(
            1,
            new ImpressionStore($database)->add([
                new CountedImpressions(FixedClock::NOON, 'GB', 'gone', 1, 8.0, 4.0),
                new CountedImpressions(FixedClock::NOON, 'GB', 'a', 1, 8.0, 4.0),
            ]),
        );
        self::assertSame(['GB a 1 1'], array_keys(self::impressions($database)));
    }

    #[Test]
    public function what_visitors_do_with_a_placed_video_at_its_place_is_learned_of_no_video(): void
    {
        mt_srand(Draws::seed());
        for ($draws = Draws::count(usual: 20, long: 1000); $draws > 0; $draws--) {
            [$rank, $first, $last] = [mt_rand(1, 5), mt_rand(0, 100), mt_rand(100, 200)];
            $databases = [self::database(), self::database()];
            foreach ($databases as $database) {
                $database->run(
                    "INSERT INTO placed_ranks (region, window, category, rank, video_id, first_at, last_at, model_rate) VALUES ('GB', 'day', '', ?, 'a', ?, ?, 0.5)",
                    [$rank, FixedClock::NOON + 60 * $first, FixedClock::NOON + 60 * $last],
                );
            }
            $counts = [[], []];
            $clicks = [0, 0];
            for ($index = 0; $index < 100; $index++) {
                $minute = mt_rand(0, 400);
                $list = [['GB', Window::Day], ['GB', Window::Now], ['FR', Window::Day]][mt_rand(0, 2)];
                [$video, $at] = [['a', 'b'][mt_rand(0, 1)], mt_rand(1, 5)];
                $isPlaced =
                    $list === ['GB', Window::Day] &&
                    $video === 'a' &&
                    $at === $rank &&
                    $minute >= $first &&
                    $minute <= $last + 60;
                $usual = mt_rand(0, 100);
                foreach ([0, 1] as $world) {
                    $some = $isPlaced ? mt_rand(0, 100) : $usual;
                    $clicks[$world] += $isPlaced ? $some : 0;
                    $counts[$world][] = new CountedImpressions(
                        FixedClock::NOON + 60 * $minute,
                        $list[0],
                        $video,
                        $at,
                        100.0,
                        $some,
                        $list[1],
                    );
                }
            }
            foreach ($databases as $world => $database) {
                new ImpressionStore($database)->add($counts[$world]);
                self::assertSame(
                    [(float) $clicks[$world]],
                    array_column($database->rows('SELECT clicks FROM placed_ranks'), 'clicks'),
                    Draws::hint(),
                );
                $row = $database->row('SELECT impressions, model_clicks FROM placed_ranks');
                self::assertSame($row['impressions'] / 2, $row['model_clicks']);
            }
            foreach (['impressions', 'rank_traffic', 'list_impressions', 'served_hours'] as $table) {
                self::assertSame(
                    $databases[0]->rows("SELECT * FROM $table"),
                    $databases[1]->rows("SELECT * FROM $table"),
                    Draws::hint(),
                );
            }
        }
    }

    private static function database(): Database
    {
        $database = MigratedDatabase::inMemory();
        foreach (
            ['a' => FixedClock::NOON - 3600, 'old' => 0, 'b' => null, '7' => FixedClock::NOON]
            as $id => $publishedAt
        ) {
            $database->run(self::ADD_VIDEO, [(string) $id, $publishedAt, FixedClock::NOON]);
        }

        return $database;
    }

    /** @return array<string, array<string, int|float>> by region, video and group */
    private static function impressions(Database $database): array
    {
        $rows = [];
        foreach (
            $database->rows('SELECT * FROM impressions ORDER BY region, video_id, rank_group, age_group')
            as $row
        ) {
            ['region' => $region, 'video_id' => $video, 'rank_group' => $group, 'age_group' => $age] = $row;
            unset($row['region'], $row['video_id'], $row['rank_group'], $row['age_group']);
            $rows["$region $video $group $age"] = $row;
        }

        return $rows;
    }
}
