<?php

declare(strict_types=1);

namespace TrendVault\Writer\Tests\Ranking;

use PHPUnit\Framework\Attributes\Test;
use PHPUnit\Framework\TestCase;
use TrendVault\Writer\Database\Database;
use TrendVault\Writer\Ranking\CountedImpressions;
use TrendVault\Writer\Ranking\ClickCounts;
use TrendVault\Writer\Ranking\ImpressionStore;
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
    public function an_impression_counts_half_after_the_half_life(): void
    {
        $database = self::database();
        $store = new ImpressionStore($database);
        $store->add([new CountedImpressions(FixedClock::NOON, 'GB', 'old', 1, 8.0, 4.0)]);
        $later = FixedClock::NOON + (int) (3600 * ClickCounts::HALF_LIFE_HOURS);
        $store->add([new CountedImpressions($later, 'GB', 'old', 1, 1.0, 1.0)]);

        ['GB old 1 11' => $row] = self::impressions($database);
        self::assertEqualsWithDelta(5.0, $row['impressions'], 1e-9);
        self::assertEqualsWithDelta(3.0, $row['clicks'], 1e-9);
        self::assertSame($later, $row['counted_at']);
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
