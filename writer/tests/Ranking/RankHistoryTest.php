<?php

declare(strict_types=1);

namespace TrendVault\Writer\Tests\Ranking;

use PHPUnit\Framework\Attributes\Test;
use PHPUnit\Framework\TestCase;
use TrendVault\Writer\Database\Database;
use TrendVault\Writer\Database\RemovalKind;
use TrendVault\Writer\Database\Removals;
use TrendVault\Writer\Ranking\RankingPublisher;
use TrendVault\Writer\Retention\Pruning;
use TrendVault\Writer\Tests\Support\Draws;
use TrendVault\Writer\Tests\Support\FixedClock;
use TrendVault\Writer\Tests\Support\MigratedDatabase;
use TrendVault\Writer\Tests\Support\StoredObservations;

final class RankHistoryTest extends TestCase
{
    private const int NOON = FixedClock::NOON;
    private const int HOUR = 3600;
    private const int MAX_AGE = 4500;
    private const int INTERVAL = 300;

    private Database $database;

    protected function setUp(): void
    {
        $this->database = MigratedDatabase::inMemory();
    }

    #[Test]
    public function the_first_list_is_compared_with_none_and_the_next_with_the_first(): void
    {
        $this->observe(['a' => 300, 'b' => 200], self::NOON);
        $this->publish(self::NOON);
        self::assertSame([null, ['a' => null, 'b' => null]], $this->published());

        $this->observe(['a' => 300, 'b' => 900, 'c' => 100], self::NOON + 3600);
        $this->publish(self::NOON + 3600);
        self::assertSame([self::NOON, ['b' => 2, 'a' => 1, 'c' => null]], $this->published());
    }

    #[Test]
    public function a_list_is_compared_with_the_one_nearest_to_an_hour_before(): void
    {
        $this->observe(['a' => 300, 'b' => 200], self::NOON);
        for ($minute = 0; $minute <= 70; $minute++) {
            $this->publish(self::NOON + 60 * $minute);
        }

        self::assertSame(self::NOON + 600, $this->published()[0]);
    }

    #[Test]
    public function what_is_older_than_75_minutes_is_no_comparison_and_is_deleted(): void
    {
        $this->observe(['a' => 300], self::NOON);
        $this->publish(self::NOON);
        $this->publish(self::NOON + self::MAX_AGE);
        self::assertSame([self::NOON, ['a' => 1]], $this->published());

        $this->publish(self::NOON + 3 * self::MAX_AGE);
        self::assertSame([null, ['a' => null]], $this->published());
        self::assertSame(
            1,
            $this->database->value('SELECT count(DISTINCT published_at) FROM rank_snapshots'),
        );
    }

    #[Test]
    public function what_was_published_by_a_clock_ahead_is_no_comparison(): void
    {
        $ranking = new RankingPublisher($this->database);
        $this->observe(['a' => 300], self::NOON);
        $ranking->publishAt(self::NOON + 30 * self::HOUR);
        $ranking->publishAt(self::NOON);

        self::assertSame([null, ['a' => null]], $this->published());
        self::assertSame(self::NOON, $this->database->value('SELECT max(published_at) FROM rank_snapshots'));
    }

    #[Test]
    public function removed_videos_make_others_rise_and_a_new_category_has_no_ranks_before(): void
    {
        $this->observe(['a' => 300, 'b' => 200], self::NOON);
        $this->publish(self::NOON);
        new Removals($this->database)->remove(RemovalKind::Video, 'a', 'a test', self::NOON);
        $this->observe(['b' => 250], self::NOON + 60, category: 'Music');
        $this->publish(self::NOON + 60);

        self::assertSame([self::NOON, ['b' => 2]], $this->published());
        self::assertSame([self::NOON, ['b' => null]], $this->published('Music'));
    }

    #[Test]
    public function ranks_of_before_are_those_of_a_recording(): void
    {
        $random = Draws::randomizer();
        $ids = array_map(
            static fn(int $id): string => $id % 3 === 0 ? (string) (1_000_000 + $id) : "-v~$id",
            range(1, 40),
        );
        [$recording, $now] = [[], self::NOON];
        for ($run = 0; $run < Draws::count(120, 1500); $run++) {
            $now += $random->getInt(1, 20) === 1 ? $random->getInt(600, 6000) : $random->getInt(20, 140);
            $picked = (array) $random->pickArrayKeys($ids, 8);
            $this->observe(
                array_combine(
                    array_map(static fn(int $key): string => $ids[$key], $picked),
                    array_map(static fn(): int => $random->getInt(0, 1_000_000), $picked),
                ),
                $now,
            );
            $this->publish($now);
            new Pruning($this->database)->prune(null, 0);
            [$comparedAt, $previous] = $this->published();
            $this->assertCompared($comparedAt, array_keys($recording), $now);
            $then = array_flip($recording[$comparedAt] ?? []);
            foreach ($previous as $id => $rank) {
                self::assertSame(isset($then[$id]) ? $then[$id] + 1 : null, $rank, "$id, " . Draws::hint());
            }
            $recording[$now] = array_keys($previous);
        }
    }

    /** @param list<int> $times of all publications before */
    private function assertCompared(?int $comparedAt, array $times, int $now): void
    {
        $isRecent = static fn(int $at): bool => $now - $at <= self::MAX_AGE - self::INTERVAL;
        $error = static fn(int $at): int => abs($at - $now + self::HOUR);
        $errors = array_map($error, array_filter($times, $isRecent));
        if ($comparedAt === null) {
            self::assertSame([], $errors, Draws::hint());
        } else {
            self::assertContains($comparedAt, $times, Draws::hint());
            self::assertLessThanOrEqual(self::MAX_AGE, $now - $comparedAt, Draws::hint());
            self::assertLessThanOrEqual(
                min([self::HOUR, ...$errors]) + self::INTERVAL,
                $error($comparedAt),
                Draws::hint(),
            );
        }
    }

    /** @param array<string, int> $views by video */
    private function observe(array $views, int $at, ?string $category = null): void
    {
        $observations = [];
        foreach ($views as $id => $count) {
            $observations[] = StoredObservations::observation(
                (string) $id,
                observedAt: $at,
                views: $count,
                category: $category,
            );
        }
        StoredObservations::in($this->database, $observations);
    }

    private function publish(int $now): void
    {
        new RankingPublisher($this->database)->publish($now);
    }

    /** @return array{?int, array<string, ?int>} when the newest list of GB's day was compared, and the ranks of then by video */
    private function published(string $category = ''): array
    {
        $ranks = $this->database->rows(
            "SELECT video_id, previous_rank FROM trending WHERE generation = (SELECT max(id) FROM generations) AND region = 'GB' AND window = 'day' AND category = ? ORDER BY rank",
            [$category],
        );

        return [
            $this->database->value('SELECT previous_at FROM generations ORDER BY id DESC LIMIT 1'),
            array_column($ranks, 'previous_rank', 'video_id'),
        ];
    }
}
