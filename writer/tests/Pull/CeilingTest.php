<?php

declare(strict_types=1);

namespace TrendVault\Writer\Tests\Pull;

use PHPUnit\Framework\Attributes\Test;
use PHPUnit\Framework\TestCase;
use TrendVault\Writer\Pull\Ceiling;
use TrendVault\Writer\Tests\Support\Draws;

final class CeilingTest extends TestCase
{
    #[Test]
    public function what_is_below_counts_as_it_was_told(): void
    {
        self::assertSame(
            [1 => 1.0, 2 => 1.0],
            new Ceiling(3)->shares([1 => 30, 2 => 29], [self::page(1, 24, 10)], []),
        );
    }

    #[Test]
    public function what_exceeds_it_scales_the_whole_page_in_proportion(): void
    {
        self::assertSame(
            [1 => 0.25, 2 => 0.25, 24 => 0.25],
            new Ceiling(3)->shares([1 => 120, 2 => 100, 24 => 1], [self::page(1, 24, 10)], []),
        );
    }

    #[Test]
    public function the_flood_of_one_page_leaves_the_others_alone(): void
    {
        $pages = [self::page(1, 24, 10), self::page(25, 48, 10)];
        self::assertSame(
            [1 => 1.0, 24 => 1.0, 25 => 0.03, 30 => 0.03],
            new Ceiling(3)->shares([1 => 10, 24 => 2, 25 => 1000, 30 => 900], $pages, []),
        );
    }

    #[Test]
    public function lists_of_all_pages_with_a_rank_are_added(): void
    {
        $pages = [self::page(1, 24, 10), self::page(1, 50, 10)];
        self::assertSame(
            [1 => 0.5, 24 => 0.5, 25 => 1.0],
            new Ceiling(3)->shares([1 => 120, 24 => 100, 25 => 30], $pages, []),
        );
    }

    #[Test]
    public function what_earlier_minutes_counted_is_used_up(): void
    {
        self::assertSame(
            [1 => 0.1, 2 => 0.1],
            new Ceiling(3)->shares([1 => 100, 2 => 50], [self::page(1, 24, 10)], [1 => 20, 2 => 5]),
        );
        self::assertSame([1 => 0.0], new Ceiling(3)->shares([1 => 100], [self::page(1, 24, 10)], [1 => 40]));
    }

    #[Test]
    public function without_lists_nothing_counts_and_a_factor_of_0_counts_nothing(): void
    {
        self::assertSame([1 => 0.0], new Ceiling(3)->shares([1 => 1], [], []));
        self::assertSame([60 => 0.0], new Ceiling(3)->shares([60 => 1], [self::page(1, 50, 9)], []));
        self::assertSame([1 => 0.0], new Ceiling(0)->shares([1 => 1], [self::page(1, 50, 9)], []));
        self::assertSame([1 => 1.0], new Ceiling(0)->shares([1 => 0], [], []));
    }

    #[Test]
    public function no_draw_exceeds_the_ceiling_or_is_scaled_below_it(): void
    {
        $random = Draws::randomizer();
        for ($draw = 0; $draw < Draws::count(usual: 2000, long: 100_000); $draw++) {
            $factor = $random->getInt(0, 60) / 10;
            $pages = $told = $used = [];
            for ($page = 0; $page < $random->getInt(0, 5); $page++) {
                $first = $random->getInt(1, 40);
                $pages[] = self::page($first, $first + $random->getInt(0, 30), $random->getInt(0, 1000));
            }
            for ($rank = 1; $rank <= 60; $rank += $random->getInt(1, 5)) {
                $told[$rank] = 10 ** $random->getInt(0, 8) - $random->getInt(0, 1);
                $used[$rank] = $random->getInt(0, 500) * $random->getInt(0, 1);
            }
            $shares = new Ceiling($factor)->shares($told, $pages, $used);
            self::assertSame(array_keys($told), array_keys($shares));
            $exceeding = [];
            foreach ($told as $rank => $count) {
                $with = array_filter(
                    $pages,
                    static fn(array $page): bool => $rank >= $page['first_rank'] &&
                        $rank <= $page['last_rank'],
                );
                $allowed = max(0.0, $factor * array_sum(array_column($with, 'lists')) - $used[$rank]);
                self::assertLessThanOrEqual($allowed, $shares[$rank] * $count, Draws::hint());
                $exceeding[json_encode(array_keys($with))][$rank] = $count > $allowed;
            }
            foreach ($exceeding as $ranks) {
                $ofPage = array_unique(array_intersect_key($shares, $ranks));
                if (!in_array(true, $ranks, true)) {
                    self::assertSame([1.0], array_values($ofPage), Draws::hint());
                }
            }
        }
    }

    /** @return array{first_rank: int, last_rank: int, lists: int} */
    private static function page(int $first, int $last, int $lists): array
    {
        return ['first_rank' => $first, 'last_rank' => $last, 'lists' => $lists];
    }
}
