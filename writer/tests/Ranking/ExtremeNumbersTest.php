<?php

declare(strict_types=1);

namespace TrendVault\Writer\Tests\Ranking;

use PHPUnit\Framework\Attributes\Test;
use PHPUnit\Framework\TestCase;
use TrendVault\Writer\Database\Database;
use TrendVault\Writer\Explain\Explanation;
use TrendVault\Writer\Ranking\CountedImpressions;
use TrendVault\Writer\Ranking\ImpressionStore;
use TrendVault\Writer\Ranking\RankGroup;
use TrendVault\Writer\Ranking\RankingPublisher;
use TrendVault\Writer\Ranking\Window;
use TrendVault\Writer\Simulation\Draws;
use TrendVault\Writer\Tests\Support\Draws as TestDraws;
use TrendVault\Writer\Tests\Support\FixedClock;
use TrendVault\Writer\Tests\Support\MigratedDatabase;
use TrendVault\Writer\Tests\Support\StoredObservations;

/** No line, and no message, takes a region's list away. */
final class ExtremeNumbersTest extends TestCase
{
    private const int HOUR = 3600;
    private const array COUNTS = [0, 1, 2, 1000, 1_000_000, 1_000_000_000_000, 9_007_199_254_740_991];
    private const array HOURS = [0.0, 0.0003, 0.5, 7.0, 40.0, 2000.0, 450_000.0, 4_000_000.0];
    private const string NOT_FINITE = <<<'SQL'
    SELECT count(*) FROM trending
    WHERE NOT (score < 9e999 AND views_per_hour < 9e999 AND ifnull(previous_views_per_hour, 0) < 9e999 AND ifnull(expected_views, 0) < 9e999)
    SQL;

    #[Test]
    public function every_region_has_a_list_of_finite_numbers_whatever_was_counted(): void
    {
        for ($draw = 0; $draw < TestDraws::count(usual: 50, long: 3000); $draw++) {
            $draws = new Draws(TestDraws::seed() + $draw);
            $message = TestDraws::hint() . ", draw $draw";
            $database = MigratedDatabase::inMemory();
            // 4,000,000 hours are 456 years.
            $now = FixedClock::NOON + (int) (self::HOUR * self::one($draws, [0.0, 4e6]));
            $videos = self::one($draws, [1, 2, 10, 60]);
            $isCounted = $draws->below(3) > 0;
            for ($number = 0; $number < $videos; $number++) {
                $published = self::one($draws, [null, 0, $now + 60, max(0, self::before($draws, $now))]);
                if ($number > 0 && ($isCounted ? $draws->below(4) === 0 : true)) {
                    self::announce($database, "v$number", $published > $now ? null : $published, $now);
                } else {
                    self::observe($database, $draws, "v$number", $published, $now);
                }
            }
            self::visit($database, $draws, $videos, $now);
            $publisher = new RankingPublisher($database, self::one($draws, [0.0, 0.25, 1.0]));
            $generation = $publisher->publishAt($now);

            self::assertSame($videos, $generation->videoCount, $message);
            self::assertSame(
                3 * $videos,
                $database->number("SELECT count(*) FROM trending WHERE category = ''"),
                $message,
            );
            self::assertSame(0, $database->number(self::NOT_FINITE), $message);
            self::assertNotNull(Explanation::find($database, 'GB', 'v0'), $message);
        }
    }

    private static function announce(Database $database, string $id, ?int $published, int $now): void
    {
        $database->run(
            "INSERT INTO videos (id, title, channel, published_at, thumb_base, first_seen_at) VALUES (?1, ?1, 'a', ?2, 'https://t.example/', ?3)",
            [$id, $published, $now],
        );
        $database->run("INSERT INTO catalogue (region, video_id, announced_at) VALUES ('GB', ?, ?)", [
            $id,
            $now,
        ]);
    }

    private static function observe(
        Database $database,
        Draws $draws,
        string $id,
        ?int $published,
        int $now,
    ): void {
        $times = [$now - self::HOUR * $draws->below(40)];
        for ($more = $draws->below(6); $more > 0; $more--) {
            $times[] = max(0, self::before($draws, $now));
        }
        sort($times);
        $observations = array_map(
            static fn(int $at) => StoredObservations::observation(
                videoId: $id,
                observedAt: $at,
                views: self::one($draws, self::COUNTS),
                channel: 'a',
                publishedAt: $published,
            ),
            $times,
        );
        StoredObservations::in($database, $observations);
    }

    private static function visit(Database $database, Draws $draws, int $videos, int $now): void
    {
        $counted = [];
        for ($messages = self::one($draws, [0, 1, 3, 60, 300]); $messages > 0; $messages--) {
            $counted[] = new CountedImpressions(
                self::one($draws, [$now, $now, self::before($draws, $now)]),
                'GB',
                'v' . $draws->below($videos),
                self::one($draws, RankGroup::FIRST_RANKS),
                self::one($draws, [0, 1e-300, ...self::COUNTS]),
                self::one($draws, [0, 1e-300, ...self::COUNTS]),
                self::one($draws, Window::cases()),
            );
        }
        $store = new ImpressionStore($database);
        $store->add($counted);
        $minute = intdiv($now, 60);
        $served = array_fill($minute - 1500, 1500, self::one($draws, self::COUNTS));
        $store->addServed('GB', $served, $minute - self::one($draws, [0, 10, 1500]), $minute);
    }

    private static function before(Draws $draws, int $now): int
    {
        return $now - (int) (self::HOUR * self::one($draws, self::HOURS));
    }

    /**
     * @template T
     * @param non-empty-list<T> $values
     * @return T
     */
    private static function one(Draws $draws, array $values): mixed
    {
        return $values[$draws->below(count($values))];
    }
}
