<?php

declare(strict_types=1);

namespace TrendVault\Writer\Tests\Demo;

use PHPUnit\Framework\Attributes\Test;
use PHPUnit\Framework\TestCase;
use TrendVault\Writer\Database\Database;
use TrendVault\Writer\Database\RegionTable;
use TrendVault\Writer\Demo\DemoRegions;
use TrendVault\Writer\Demo\DemoSource;
use TrendVault\Writer\Ingest\ObservationStore;
use TrendVault\Writer\Observations\ObservationParser;
use TrendVault\Writer\Ranking\RankingPublisher;
use TrendVault\Writer\Tests\Support\FixedClock;
use TrendVault\Writer\Tests\Support\MigratedDatabase;

final class DemoSourceTest extends TestCase
{
    private const int NOON = FixedClock::NOON;
    private const int VIDEOS = 3000;

    #[Test]
    public function the_same_seed_and_time_give_the_same_lines_and_another_seed_gives_others(): void
    {
        $lines = static fn(int $seed): string => implode(
            "\n",
            self::lines(self::NOON, fill: false, seed: $seed),
        );

        self::assertSame($lines(7), $lines(7));
        self::assertNotSame($lines(7), $lines(8));
    }

    #[Test]
    public function every_line_is_a_valid_observation_and_every_region_has_videos_in_its_language(): void
    {
        $database = MigratedDatabase::inMemory();
        self::ingest($database, self::NOON, fill: true);

        self::assertSame(self::VIDEOS, $database->value('SELECT count(*) FROM videos'));
        self::assertSame(14, $database->value('SELECT count(DISTINCT region) FROM velocity'));
        self::assertSame(15, $database->value('SELECT count(DISTINCT category) FROM videos'));
        self::assertSame(11, $database->value('SELECT count(DISTINCT language) FROM videos'));
        self::assertGreaterThan(self::VIDEOS * 1.1, $database->value('SELECT count(*) FROM velocity'));
        $languages = array_column(
            $database->rows(
                "SELECT DISTINCT language FROM videos JOIN velocity ON video_id = id WHERE region = 'BE' ORDER BY 1",
            ),
            'language',
        );
        self::assertSame([], array_diff(['fr', 'nl'], $languages));
    }

    #[Test]
    public function views_only_grow_and_a_few_videos_have_most_of_them(): void
    {
        $database = MigratedDatabase::inMemory();
        self::ingest($database, self::NOON, fill: true);

        self::assertSame(
            0,
            $database->value(
                <<<'SQL'
                SELECT count(*) FROM observations AS o JOIN observations AS before
                ON before.observed_at = o.previous_observed_at AND before.region = o.region AND before.video_id = o.video_id
                WHERE before.views > o.views
                SQL
                ,
            ),
        );
        $views = array_column($database->rows('SELECT views FROM velocity ORDER BY views DESC'), 'views');
        self::assertGreaterThan(
            0.3 * array_sum($views),
            array_sum(array_slice($views, 0, (int) (count($views) / 100))),
        );
    }

    #[Test]
    public function a_list_that_is_watched_for_five_minutes_visibly_moves(): void
    {
        $database = MigratedDatabase::inMemory();
        $ranking = new RankingPublisher($database);
        for ($minute = 0; $minute <= 5; $minute++) {
            self::ingest($database, self::NOON + 60 * $minute, fill: $minute === 0);
            $ranking->publish(self::NOON + 60 * $minute);
        }
        $moved = $database->value(
            <<<'SQL'
            SELECT count(*) FROM trending AS a JOIN trending AS b USING (region, window, category, rank)
            WHERE a.generation = 1 AND b.generation = 6 AND a.video_id <> b.video_id
              AND a.category = '' AND window = 'day' AND region IN ('GB', 'DE', 'FR') AND rank <= 24
            SQL
            ,
        );

        self::assertGreaterThan(20, $moved);
    }

    #[Test]
    public function the_first_list_has_charts_at_once(): void
    {
        $database = MigratedDatabase::inMemory();
        self::ingest($database, self::NOON, fill: true);
        new RankingPublisher($database)->publish(self::NOON);
        $charts = $database->rows(
            <<<'SQL'
            SELECT published_at, hourly.views FROM trending JOIN videos ON id = video_id LEFT JOIN hourly_views AS hourly USING (region, video_id)
            WHERE trending.category = '' AND window = 'day' AND rank <= 10
            SQL
            ,
        );
        $broken = array_filter(
            $charts,
            static fn(array $chart): bool => $chart['published_at'] < self::NOON - 25 * 3600 &&
                in_array(null, array_slice(json_decode($chart['views'] ?? '[null]', true), -25), true),
        );

        self::assertCount(140, $charts);
        self::assertSame([], array_values($broken));
    }

    #[Test]
    public function regions_of_a_deployment_have_the_more_videos_the_earlier_they_are_named(): void
    {
        $regions = array_map(
            static fn(string $code): array => [
                'code' => $code,
                'name' => $code,
                'languages' => ['ja', 'pt-BR'],
            ],
            ['JP', 'XK', 'US'],
        );
        $table = RegionTable::read(
            json_encode(['default' => 'US', 'regions' => $regions], JSON_THROW_ON_ERROR),
        );
        $source = new DemoSource(1, self::NOON, fill: true, videos: 600, regions: DemoRegions::of($table));
        $lines = array_map(static fn(string $line): array => json_decode($line, true), [...$source->lines()]);
        $counts = array_count_values(array_column($lines, 'region'));

        arsort($counts);
        self::assertSame(['JP', 'XK', 'US'], array_keys($counts));
        self::assertSame(['pt'], array_values(array_unique(array_column($lines, 'language'))));
    }

    #[Test]
    public function a_minute_counts_new_videos_the_top_gainers_and_a_share_of_the_rest(): void
    {
        self::assertLessThan(
            count(self::lines(self::NOON, fill: true)) / 3,
            count(self::lines(self::NOON, fill: false)),
        );
        $newest = intdiv(self::NOON, 12) * 12;
        self::assertStringContainsString(
            gmdate('"\p\u\b\l\i\s\h\e\d_\a\t":"Y-m-d\TH:i:s\Z"', $newest),
            implode(self::lines(self::NOON, fill: false)),
        );
    }

    private static function ingest(Database $database, int $now, bool $fill): void
    {
        $parser = new ObservationParser(
            array_fill_keys(array_column($database->rows('SELECT code FROM regions'), 'code'), true),
            $now,
        );
        $store = new ObservationStore($database, $now);
        $observations = array_map($parser->parse(...), self::lines($now, $fill));
        $store->prepareFor($observations);
        $database->transaction(static fn() => array_map($store->add(...), $observations));
    }

    /** @return list<string> */
    private static function lines(int $now, bool $fill, int $seed = 1): array
    {
        return iterator_to_array(new DemoSource($seed, $now, $fill, self::VIDEOS)->lines(), false);
    }
}
