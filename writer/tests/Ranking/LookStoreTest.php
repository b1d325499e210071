<?php

declare(strict_types=1);

namespace TrendVault\Writer\Tests\Ranking;

use PHPUnit\Framework\Attributes\Test;
use PHPUnit\Framework\TestCase;
use TrendVault\Writer\Database\Database;
use TrendVault\Writer\Ranking\CountedLooks;
use TrendVault\Writer\Ranking\Evidence;
use TrendVault\Writer\Ranking\LookStore;
use TrendVault\Writer\Tests\Support\Draws;
use TrendVault\Writer\Tests\Support\FixedClock;
use TrendVault\Writer\Tests\Support\MigratedDatabase;

final class LookStoreTest extends TestCase
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
            $counts[] = new CountedLooks(
                FixedClock::NOON + 60 * mt_rand(0, 3000),
                ['GB', 'FR'][mt_rand(0, 1)],
                ['a', 'b', '7'][mt_rand(0, 2)],
                mt_rand(1, 60),
                mt_rand(0, 1000) / 10,
                mt_rand(0, 100) / 10,
            );
        }
        $inOrder = self::database();
        new LookStore($inOrder)->add($counts);
        shuffle($counts);
        $shuffled = self::database();
        foreach (array_chunk($counts, 7) as $batch) {
            new LookStore($shuffled)->add($batch);
        }

        $expected = self::looks($inOrder);
        $actual = self::looks($shuffled);
        self::assertSame(array_keys($expected), array_keys($actual), Draws::hint());
        foreach ($expected as $key => $row) {
            self::assertEqualsWithDelta($row, $actual[$key], 1e-6, Draws::hint() . ", $key");
        }
    }

    #[Test]
    public function a_look_counts_half_after_the_half_life(): void
    {
        $database = self::database();
        $store = new LookStore($database);
        $store->add([new CountedLooks(FixedClock::NOON, 'GB', 'a', 1, 8.0, 4.0)]);
        $later = FixedClock::NOON + (int) (3600 * Evidence::HALF_LIFE_HOURS);
        $store->add([new CountedLooks($later, 'GB', 'a', 1, 1.0, 1.0)]);

        ['GB a 1' => $row] = self::looks($database);
        self::assertEqualsWithDelta(5.0, $row['looks'], 1e-9);
        self::assertEqualsWithDelta(3.0, $row['views'], 1e-9);
        self::assertSame($later, $row['counted_at']);
    }

    #[Test]
    public function looks_at_a_video_that_is_not_known_are_left_out(): void
    {
        $database = self::database();

        self::assertSame(
            1,
            new LookStore($database)->add([
                new CountedLooks(FixedClock::NOON, 'GB', 'gone', 1, 8.0, 4.0),
                new CountedLooks(FixedClock::NOON, 'GB', 'a', 1, 8.0, 4.0),
            ]),
        );
        self::assertSame(['GB a 1'], array_keys(self::looks($database)));
    }

    private static function database(): Database
    {
        $database = MigratedDatabase::inMemory();
        foreach (
            ['a' => FixedClock::NOON - 3600, 'b' => null, '7' => FixedClock::NOON]
            as $id => $publishedAt
        ) {
            $database->run(self::ADD_VIDEO, [(string) $id, $publishedAt, FixedClock::NOON]);
        }

        return $database;
    }

    /** @return array<string, array<string, int|float>> by region, video and group */
    private static function looks(Database $database): array
    {
        $rows = [];
        foreach ($database->rows('SELECT * FROM looks ORDER BY region, video_id, rank_group') as $row) {
            ['region' => $region, 'video_id' => $video, 'rank_group' => $group] = $row;
            unset($row['region'], $row['video_id'], $row['rank_group']);
            $rows["$region $video $group"] = $row;
        }

        return $rows;
    }
}
