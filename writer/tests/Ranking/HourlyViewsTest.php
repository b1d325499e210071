<?php

declare(strict_types=1);

namespace TrendVault\Writer\Tests\Ranking;

use PHPUnit\Framework\Attributes\Test;
use PHPUnit\Framework\TestCase;
use TrendVault\Writer\Database\Database;
use TrendVault\Writer\Ranking\RankingPublisher;
use TrendVault\Writer\Tests\Support\Draws;
use TrendVault\Writer\Tests\Support\FixedClock;
use TrendVault\Writer\Tests\Support\MigratedDatabase;
use TrendVault\Writer\Tests\Support\StoredObservations;

final class HourlyViewsTest extends TestCase
{
    private const int NOON = FixedClock::NOON;
    private const int HOUR = 3600;
    private const int MAX_GAP = 3 * self::HOUR;

    private Database $database;

    protected function setUp(): void
    {
        $this->database = MigratedDatabase::inMemory();
    }

    #[Test]
    public function the_count_at_a_full_hour_lies_between_those_around_it(): void
    {
        $this->observe([[-600, 100], [600, 300], [3600, 301], [3 * 3600 + 1800, 400]]);
        $this->publish(4 * self::HOUR);

        self::assertSame([200, 301, 341, 380], $this->counts(0, 3));
    }

    #[Test]
    public function between_counts_that_are_more_than_three_hours_apart_nothing_is_known(): void
    {
        $this->observe([[-60, 100], [60, 300], [3 * self::HOUR + 61, 400]]);
        $this->publish(4 * self::HOUR);

        self::assertSame([200, null, null, null], $this->counts(0, 3));
    }

    #[Test]
    public function an_hour_is_known_with_the_first_count_after_it(): void
    {
        $this->observe([[-60, 100]]);
        $this->publish(60);
        self::assertSame([null], $this->counts(0, 0));

        $this->observe([[60, 200]]);
        $this->publish(120);
        self::assertSame([150], $this->counts(0, 0));
    }

    #[Test]
    public function what_was_not_listed_for_more_than_a_day_is_deleted(): void
    {
        $this->observe([[-60, 100], [60, 200]], 'a');
        $this->publish(60);
        $this->observe([[50 * self::HOUR, 200]], 'b');
        new RankingPublisher($this->database)->publish(self::NOON + 50 * self::HOUR);

        self::assertSame(
            ['b'],
            array_column($this->database->rows('SELECT video_id FROM hourly_views'), 'video_id'),
        );
    }

    #[Test]
    public function a_run_follows_a_limited_number_of_counts_those_of_the_first_ranks_first(): void
    {
        for ($video = 0; $video < 80; $video++) {
            $this->observe(
                array_map(
                    static fn(int $minute): array => [60 * $minute, (100 - $video) * $minute],
                    range(0, 720),
                ),
                "video-$video",
            );
        }
        $this->publish(720 * 60);
        $first = array_column($this->database->rows('SELECT video_id FROM hourly_views'), 'video_id');
        self::assertCount(55, $first); // of 736 steps each, 40,000 in all
        self::assertSame([], array_diff($this->listed(50), $first));

        $this->publish(720 * 60 + 1);
        self::assertSame(80, $this->database->value('SELECT count(*) FROM hourly_views'));
    }

    #[Test]
    public function counts_are_those_of_all_observations_whenever_a_list_was_published(): void
    {
        $random = Draws::randomizer();
        for ($case = 0; $case < Draws::count(12, 200); $case++) {
            [$id, $at, $views] = ["case-$case", $random->getInt(-90_000, -1000), $random->getInt(0, 1000)];
            for ($all = [], $end = $at; $end < 0; ) {
                $more = [];
                for ($count = $random->getInt(1, 40); $count > 0; $count--) {
                    $at +=
                        $random->getInt(0, 9) === 0 ? $random->getInt(1, 20_000) : $random->getInt(1, 1500);
                    $views = max(0, $views + $random->getInt(-20, 500));
                    $more[] = [$at, $views];
                }
                $all = [...$all, ...$more];
                $end = $at;
                $this->observe($more, $id);
                $random->getInt(0, 1) === 1 && $this->publish($at);
            }
            $this->publish($at + 5);
            $last = intdiv(self::NOON + $at, self::HOUR) - intdiv(self::NOON, self::HOUR);
            $expected = array_map(
                static fn(int $hour): ?int => self::truth($all, $hour * self::HOUR),
                range($last - 24, $last),
            );
            self::assertSame($expected, $this->counts($last - 24, $last, $id), "$id, " . Draws::hint());
        }
    }

    /** @param list<array{int, int}> $observations seconds after noon, views */
    private static function truth(array $observations, int $at): ?int
    {
        [$before, $after] = [null, null];
        foreach ($observations as $observation) {
            if ($observation[0] <= $at) {
                $before = $observation;
            } else {
                $after ??= $observation;
            }
        }

        return match (true) {
            $before !== null && $before[0] === $at => $before[1],
            $before === null || $after === null || $after[0] - $before[0] > self::MAX_GAP => null,
            default => $before[1] +
                (int) round((($after[1] - $before[1]) * ($at - $before[0])) / ($after[0] - $before[0])),
        };
    }

    /** @param list<array{int, int}> $counts seconds after noon, views */
    private function observe(array $counts, string $id = 'video-1'): void
    {
        foreach ($counts as [$at, $views]) {
            StoredObservations::in($this->database, [
                StoredObservations::observation($id, observedAt: self::NOON + $at, views: $views),
            ]);
        }
    }

    private function publish(int $at): void
    {
        new RankingPublisher($this->database)->publishAt(self::NOON + $at);
    }

    /** @return list<string> */
    private function listed(int $ranks): array
    {
        return array_column(
            $this->database->rows("SELECT video_id FROM trending WHERE rank <= ? AND category = ''", [
                $ranks,
            ]),
            'video_id',
        );
    }

    /** @return list<?int> from an hour after noon to another */
    private function counts(int $from, int $to, string $id = 'video-1'): array
    {
        $row = $this->database->rows('SELECT hour, views FROM hourly_views WHERE video_id = ?', [$id])[0];
        $views = json_decode($row['views'], true);
        $index = count($views) - 1 - $row['hour'] + intdiv(self::NOON, self::HOUR);

        return array_map(static fn(int $hour): ?int => $views[$index + $hour] ?? null, range($from, $to));
    }
}
