<?php

declare(strict_types=1);

namespace TrendVault\Writer\Tests\Ranking;

use PHPUnit\Framework\Attributes\Test;
use PHPUnit\Framework\TestCase;
use TrendVault\Writer\Database\Database;
use TrendVault\Writer\Ranking\Candidate;
use TrendVault\Writer\Ranking\ChannelLimit;
use TrendVault\Writer\Ranking\ClickCounts;
use TrendVault\Writer\Ranking\Contender;
use TrendVault\Writer\Ranking\RankableVideos;
use TrendVault\Writer\Ranking\RankedLists;
use TrendVault\Writer\Ranking\RankGroup;
use TrendVault\Writer\Ranking\RankingPublisher;
use TrendVault\Writer\Ranking\Traffic;
use TrendVault\Writer\Ranking\Velocity;
use TrendVault\Writer\Simulation\Draws as Numbers;
use TrendVault\Writer\Tests\Support\Draws;
use TrendVault\Writer\Tests\Support\FixedClock;
use TrendVault\Writer\Tests\Support\MigratedDatabase;

/** Far more videos than lists have ranks: what a catalogue announces takes no memory until a list has a place for it. */
final class ManyVideosTest extends TestCase
{
    private const int NOON = FixedClock::NOON;
    private const array REGIONS = [
        'GB',
        'DE',
        'FR',
        'ES',
        'IT',
        'NL',
        'PL',
        'SE',
        'PT',
        'BE',
        'AT',
        'IE',
        'DK',
        'CZ',
    ];

    #[Test]
    public function a_catalogue_is_ranked_in_little_memory_however_large_it_is(): void
    {
        [$videos, $regions, $megabytes] = getenv('TEST_LONG')
            ? [71_500, self::REGIONS, 192] // a million pairs
            : [6000, array_slice(self::REGIONS, 0, 3), 16];
        $database = self::catalogue($videos, $regions);
        $before = memory_get_usage();
        memory_reset_peak_usage();
        $started = self::cpuSeconds();
        new RankingPublisher($database, 0.25)->publish(self::NOON);
        $seconds = self::cpuSeconds() - $started;

        self::assertLessThan($megabytes << 20, memory_get_peak_usage() - $before);
        self::assertSame(
            count($regions),
            $database->value("SELECT count(*) FROM generation_regions WHERE video_count = $videos"),
        );
        self::assertSame(
            count($regions) * 500,
            $database->value("SELECT count(*) FROM trending WHERE category = '' AND window = 'day'"),
        );
        // Nobody has seen any of them, and some are tried.
        self::assertGreaterThan(
            0,
            $database->value("SELECT count(*) FROM explored_ranks WHERE region = 'GB' AND category = ''"),
        );
        if (getenv('TEST_LONG')) {
            self::assertLessThan(20.0, $seconds);
        }
    }

    #[Test]
    public function a_list_is_the_same_when_videos_that_nobody_knows_are_offered_one_after_the_other(): void
    {
        for ($draw = 0; $draw < Draws::count(usual: 20, long: 500); $draw++) {
            // In the first, the newest are expected to be clicked more often than they are seen, which no rate is; in the
            // second, some are expected to be clicked almost never, and nobody knows how seldom. In the fourth, some without a
            // date are as new as others with one.
            $numbers = new Numbers(
                [1_885_145, 109_779_110, 3 => 1_871_153_651][$draw] ?? Draws::seed() + $draw,
            );
            $unknown = self::unknown($numbers);
            $known = self::known($numbers, (int) (60 * $numbers->share()));
            $share = [0.0, 0.25][$draw % 2];
            $limit = new ChannelLimit(1 + (int) (3 * $numbers->share()), (int) (40 * $numbers->share()));
            $streamed = self::lists($limit, $known, $unknown, $share);

            self::assertSame(
                self::lists($limit, [...$known, ...$unknown], [], $share),
                $streamed,
                Draws::hint() . ", draw $draw",
            );
        }
    }

    #[Test]
    public function where_more_are_counted_than_fit_those_with_the_fewest_views_an_hour_are_left_out(): void
    {
        $database = self::catalogue(6, ['GB']);
        $database->execute(
            <<<'SQL'
            INSERT INTO velocity (video_id, region, first_observed_at, last_observed_at, observation_count, views, views_per_hour, rated_at, description_hash)
            SELECT id, 'GB', 1, 10, 1, 100, unicode(substr(id, -1)), 10, 1 FROM videos WHERE id < 'video-5'
            SQL
            ,
        );
        $lists = new RankedLists(self::NOON);
        new RankableVideos($database, $lists, ['GB' => 10], self::NOON, self::NOON, mostCounted: 3)->offer(
            0.25,
        );
        $list = [...$lists->ranked()][0];

        self::assertSame(['GB' => 2], $lists->leftOut());
        self::assertEqualsCanonicalizing(
            ['video-2', 'video-3', 'video-4', 'video-5'],
            array_column($list->candidates, 'videoId'),
        );
    }

    /** @param non-empty-list<string> $regions where all are announced; in the first, some were seen */
    private static function catalogue(int $videos, array $regions): Database
    {
        $database = MigratedDatabase::inMemory();
        $now = self::NOON;
        $last = $videos - 1;
        $database->execute(
            <<<SQL
            WITH RECURSIVE numbers (number) AS (SELECT 0 UNION ALL SELECT number + 1 FROM numbers WHERE number < $last)
            INSERT INTO videos (id, title, channel, category, language, published_at, thumb_base, first_seen_at)
            SELECT 'video-' || number, 'A title', 'Channel ' || (number % 997), 'Category ' || (number % 15),
              CASE number % 4 WHEN 0 THEN 'de' WHEN 1 THEN 'en-GB' END,
              CASE WHEN number % 3 > 0 THEN $now - (number * 7907) % 40000000 END, 'https://t.example/', $now - 60
            FROM numbers
            SQL
            ,
        );
        foreach ($regions as $region) {
            $database->run(
                'INSERT INTO catalogue (region, video_id, announced_at) SELECT ?, id, 0 FROM videos ORDER BY id',
                [$region],
            );
        }
        $database->run(
            "INSERT INTO impressions (region, video_id, rank_group, age_group, impressions, clicks, age_hours, counted_at)
            SELECT ?, id, 1, 3, 500, 20, 3, $now - 60 FROM videos WHERE id > 'video-5' LIMIT 300",
            [$regions[0]],
        );
        foreach (RankGroup::FIRST_RANKS as $group) {
            $database->run(
                "INSERT INTO rank_traffic (region, rank_group, impressions, counted_since, counted_at)
                VALUES (?, ?, 5000, $now - 86400, $now - 60)",
                [$regions[0], $group],
            );
            $database->run("INSERT INTO list_impressions VALUES (?, 'day', '', ?, 5000, $now - 60)", [
                $regions[0],
                $group,
            ]);
        }

        return $database;
    }

    /** @return list<Contender> by id; of many ages or few, channels and languages */
    private static function unknown(Numbers $numbers): array
    {
        $ages = [1.0, 20.0, 4e6][(int) (3 * $numbers->share())];
        $channels = [1, 5, 1000][(int) (3 * $numbers->share())];
        $unknown = [];
        for ($number = 0; $number < 3000; $number++) {
            // Most and the newest are of one channel.
            $channel = (int) ($channels * $numbers->share() ** 8);
            $publishedAt = self::NOON - 3600 * (int) ($ages * ($channel + 0.1) * $numbers->share());
            $unknown[] = new Contender(
                sprintf('video-%04d', $number),
                "channel-$channel",
                [null, 'music', 'sport'][(int) (3 * $numbers->share())],
                $numbers->share() < 0.8 || $channel > 0 ? $publishedAt : null,
                Velocity::none(self::NOON - 60),
                [],
                ['', 'de', 'en duration=long'][(int) (3 * $numbers->share())],
            );
        }

        return $unknown;
    }

    /** @return list<Contender> that were seen */
    private static function known(Numbers $numbers, int $count): array
    {
        $known = [];
        for ($number = 0; $number < $count; $number++) {
            $age = 100 * $numbers->share();
            $known[] = new Contender(
                "known-$number",
                'channel-1',
                'music',
                self::NOON - (int) (3600 * $age),
                Velocity::none(self::NOON - 60),
                [
                    new ClickCounts(
                        1,
                        ClickCounts::ageGroup($age),
                        200.0,
                        (float) $numbers->count(8 * $numbers->factor(1.0)),
                        $age,
                        self::NOON,
                    ),
                ],
            );
        }

        return $known;
    }

    /**
     * @param list<Contender> $known
     * @param list<Contender> $unknown
     * @return array<string, list<array{string, float, bool}>> id, score, and whether it is explored, by list
     */
    private static function lists(ChannelLimit $limit, array $known, array $unknown, float $share): array
    {
        $traffic = [];
        foreach (RankGroup::FIRST_RANKS as $group) {
            $traffic[$group] = [500.0, self::NOON - 86_400, self::NOON];
        }
        $lists = new RankedLists(self::NOON, channelLimit: $limit);
        $lists->offerAll('GB', $known, new Traffic($traffic, self::NOON), $share, unknown: $unknown);
        $ranked = [];
        foreach ($lists->ranked() as $list) {
            $ranked["{$list->window->value} $list->category"] = array_map(
                static fn(Candidate $one): array => [$one->videoId, $one->score, $one->isExplored],
                $list->candidates,
            );
        }

        return $ranked;
    }

    private static function cpuSeconds(): float
    {
        $usage = getrusage();

        return $usage['ru_utime.tv_sec'] + $usage['ru_utime.tv_usec'] / 1e6;
    }
}
