<?php

declare(strict_types=1);

namespace TrendVault\Writer\Tests\Ranking;

use PHPUnit\Framework\Attributes\Test;
use PHPUnit\Framework\TestCase;
use TrendVault\Writer\Database\Database;
use TrendVault\Writer\Ranking\CountedImpressions;
use TrendVault\Writer\Ranking\ImpressionStore;
use TrendVault\Writer\Ranking\RankingPublisher;
use TrendVault\Writer\Simulation\Draws;
use TrendVault\Writer\Tests\Support\Draws as TestDraws;
use TrendVault\Writer\Tests\Support\FixedClock;
use TrendVault\Writer\Tests\Support\MigratedDatabase;

/** What places are said to bring, beside what they bring: a world with day and night, and a list each half hour. */
final class ExpectedViewsTest extends TestCase
{
    private const int START = FixedClock::NOON;
    private const int STEP = 1800;
    private const string PLACES = <<<'SQL'
    SELECT rank, video_id, score, expected_views FROM trending
    WHERE generation = ? AND region = 'GB' AND window = 'now' AND category = '' AND rank <= 48 ORDER BY rank
    SQL;

    private Database $database;
    private Draws $draws;
    /** @var array<string, array{int, float}> when it was published, and its click-through rate then */
    private array $videos = [];

    #[Test]
    public function the_clicks_of_the_next_hours_at_the_first_ranks_and_below_are_within_a_fifth_of_what_is_expected(): void
    {
        $this->database = MigratedDatabase::inMemory();
        $this->draws = new Draws(TestDraws::measuredSeeds(1)[0]);
        [$taper, $night, $loads] = [
            [6.0, 24.0, 1e6][(int) (3 * $this->draws->share())],
            0.5 + 0.4 * $this->draws->share(),
            10 ** (3.3 + 1.2 * $this->draws->share()),
        ];
        $this->announce(200, self::START - 24 * 3600, self::START);
        $expected = $came = [];
        for ($step = 0; $step < 96; $step++) {
            $now = self::START + $step * self::STEP;
            $this->announce((int) (4 * $this->draws->share()), $now - self::STEP, $now);
            $generation = new RankingPublisher($this->database, 0.25)->publish($now)->id;
            $places = $this->database->rows(self::PLACES, [$generation]);
            $expected[] = self::halves(array_column($places, 'expected_views', 'rank'));
            $hour = fmod($now / 3600, 24);
            $came[] = $this->visit($places, $now, $loads * (1 + $night * sin(($hour * M_PI) / 12)), $taper);
        }

        self::assertNull($expected[5], 'of hours of the day that were not counted yet');
        foreach ([0, 1] as $half) {
            [$said, $brought] = [0.0, 0];
            foreach (range(48, 84, 4) as $step) {
                $said += $expected[$step][$half] ?? NAN;
                $brought += array_sum(array_column(array_slice($came, $step, 12), $half));
            }
            self::assertEqualsWithDelta(1.0, $said / $brought, 0.2, TestDraws::hint());
        }
    }

    #[Test]
    public function a_rank_where_a_video_for_kids_stood_is_seen_by_all_who_saw_the_next_one(): void
    {
        $this->database = MigratedDatabase::inMemory();
        $this->draws = new Draws(1);
        $this->announce(2, self::START - 3600, self::START);
        $this->database->run("UPDATE videos SET made_for_kids = 1 WHERE id = 'v1'");
        $store = new ImpressionStore($this->database);
        $last = intdiv(self::START, 60) - 1;
        $store->addServed('GB', array_fill($last - 1439, 1440, 1), $last - 1440, $last);
        $store->add([
            new CountedImpressions(self::START, 'GB', 'v1', 1, 4400, 200),
            new CountedImpressions(self::START, 'GB', 'v0', 2, 4000, 2000),
        ]);
        $generation = new RankingPublisher($this->database, 0.0)->publish(self::START)->id;

        [$first] = $this->database->rows(self::PLACES, [$generation]);
        self::assertSame('v0', $first['video_id']);
        self::assertEqualsWithDelta(500.0, $first['expected_views'], 100.0);
        self::assertGreaterThan(6 * 4000 * 0.25, $first['score'], 'of who look at the first rank in an hour');
    }

    #[Test]
    public function nothing_is_expected_before_a_hundred_clicks_and_a_third_of_each_hour_were_counted(): void
    {
        $this->database = MigratedDatabase::inMemory();
        $this->draws = new Draws(1);
        $this->announce(1, self::START - 3600, self::START);
        $store = new ImpressionStore($this->database);
        $last = intdiv(self::START, 60) - 1;
        $store->addServed('GB', array_fill($last - 1394, 1395, 1), $last - 1395, $last); // 15 minutes of the first hour
        $expectedWith = function (int $clicks) use ($store): mixed {
            $store->add([new CountedImpressions(self::START, 'GB', 'v0', 1, 1000, $clicks)]);
            $generation = new RankingPublisher($this->database)->publish(self::START)->id;

            return $this->database->rows(self::PLACES, [$generation])[0]['expected_views'];
        };

        self::assertNull($expectedWith(101));
        $store->addServed('GB', [], $last - 1405, $last - 1395);
        self::assertGreaterThan(0.0, $expectedWith(0));
        $this->database->execute('UPDATE impressions SET clicks = 99');
        self::assertNull($expectedWith(0));
        self::assertGreaterThan(0.0, $expectedWith(1));
    }

    /**
     * @param array<int, ?float> $byRank
     * @return ?array{float, float} of the ranks 1 to 24, and 25 to 48; null where it is not known
     */
    private static function halves(array $byRank): ?array
    {
        return in_array(null, $byRank, true)
            ? null
            : [array_sum(array_slice($byRank, 0, 24)), array_sum(array_slice($byRank, 24))];
    }

    private function announce(int $count, int $from, int $until): void
    {
        for ($number = 0; $number < $count; $number++) {
            $id = 'v' . count($this->videos);
            $at = $from + (int) (($until - $from) * $this->draws->share());
            $this->videos[$id] = [$at, 0.04 * $this->draws->factor(1.0)];
            $this->database->run(
                "INSERT INTO videos (id, title, channel, published_at, thumb_base, first_seen_at) VALUES (?1, ?1, ?1, ?2, 'https://t.example/', ?2)",
                [$id, $at],
            );
            $this->database->run(
                "INSERT INTO catalogue (region, video_id, announced_at) VALUES ('GB', ?, ?)",
                [$id, $at],
            );
        }
    }

    /**
     * @param list<array{rank: int, video_id: string, ...}> $places
     * @return array{float, float} clicks at the ranks 1 to 24, and 25 to 48
     */
    private function visit(array $places, int $now, float $loadsPerHour, float $taper): array
    {
        $loads = ($loadsPerHour * self::STEP) / 3600;
        $counted = $clicks = [];
        foreach ($places as ['rank' => $rank, 'video_id' => $id]) {
            [$publishedAt, $rate] = $this->videos[$id];
            $rate *= $taper / ($taper + ($now + self::STEP / 2 - $publishedAt) / 3600);
            $seen = $this->draws->count($loads / $rank ** 0.9);
            $clicks[$rank] = min($seen, $this->draws->count($seen * min(0.95, $rate)));
            $counted[] = new CountedImpressions($now + self::STEP, 'GB', $id, $rank, $seen, $clicks[$rank]);
        }
        $store = new ImpressionStore($this->database);
        $store->add($counted);
        $minutes = intdiv(self::STEP, 60);
        $first = intdiv($now, 60);
        $served = array_fill($first, $minutes, (int) ($loads / $minutes));
        $store->addServed('GB', $served, $first - 1, $first + $minutes - 1);

        return self::halves($clicks) ?? [0.0, 0.0];
    }
}
