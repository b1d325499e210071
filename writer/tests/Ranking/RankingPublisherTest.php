<?php

declare(strict_types=1);

namespace TrendVault\Writer\Tests\Ranking;

use PHPUnit\Framework\Attributes\Test;
use PHPUnit\Framework\TestCase;
use TrendVault\Writer\Database\Database;
use TrendVault\Writer\Observations\Observation;
use TrendVault\Writer\Ranking\Candidate;
use TrendVault\Writer\Ranking\ChannelLimit;
use TrendVault\Writer\Ranking\RankingPublisher;
use TrendVault\Writer\Ranking\TopList;
use TrendVault\Writer\Ranking\Velocity;
use TrendVault\Writer\Ranking\Window;
use TrendVault\Writer\Tests\Support\Draws;
use TrendVault\Writer\Tests\Support\FixedClock;
use TrendVault\Writer\Tests\Support\MigratedDatabase;
use TrendVault\Writer\Tests\Support\StoredObservations;

final class RankingPublisherTest extends TestCase
{
    private const int NOON = FixedClock::NOON;

    private Database $database;

    protected function setUp(): void
    {
        $this->database = MigratedDatabase::inMemory();
    }

    #[Test]
    public function a_list_is_ordered_by_score_then_id_with_ranks_from_one_without_gaps(): void
    {
        StoredObservations::in($this->database, [
            StoredObservations::observation('small', views: 10),
            StoredObservations::observation('tie-b', views: 500),
            StoredObservations::observation('large', views: 9000),
            StoredObservations::observation('tie-a', views: 500),
        ]);
        $this->publish();

        self::assertSame([[1, 'large'], [2, 'tie-a'], [3, 'tie-b'], [4, 'small']], $this->ranks());
    }

    #[Test]
    public function a_video_is_ranked_only_in_regions_that_it_was_observed_in_and_in_its_category(): void
    {
        StoredObservations::in($this->database, [
            StoredObservations::observation('a', region: 'GB', category: 'Music'),
            StoredObservations::observation('b', region: 'DE'),
        ]);
        $this->publish();

        self::assertSame([[1, 'a']], $this->ranks('GB'));
        self::assertSame([[1, 'b']], $this->ranks('DE'));
        self::assertSame([[1, 'a']], $this->ranks('GB', 'Music'));
        self::assertSame([], $this->ranks('FR'));
        self::assertSame(
            [['DE', 1, self::NOON], ['FR', 0, null], ['GB', 1, self::NOON]],
            array_map(
                array_values(...),
                $this->database->rows(
                    "SELECT region, video_count, newest_observed_at FROM generation_regions WHERE region IN ('GB', 'DE', 'FR') ORDER BY region",
                ),
            ),
        );
    }

    #[Test]
    public function a_list_has_the_rate_before_the_last_of_what_was_counted_three_times(): void
    {
        foreach ([2, 1, 0] as $hour => $hoursAgo) {
            StoredObservations::in($this->database, [
                StoredObservations::observation(
                    observedAt: self::NOON - $hoursAgo * 3600,
                    views: [1000, 1600, 4000][$hour],
                ),
            ]);
        }
        $this->publish();

        $rates = $this->database->rows(
            'SELECT views_per_hour, previous_views_per_hour AS previous FROM trending',
        );
        $kept = $this->database->rows(
            'SELECT views_per_hour, previous_views_per_hour AS previous FROM velocity',
        );
        self::assertNotEmpty($rates);
        self::assertGreaterThan(0.0, $kept[0]['previous']);
        self::assertSame($kept, array_values(array_unique($rates, SORT_REGULAR)));
    }

    #[Test]
    public function at_most_three_videos_of_a_channel_are_in_the_first_24_and_the_others_follow(): void
    {
        $observations = [];
        for ($video = 0; $video < 6; $video++) {
            $observations[] = StoredObservations::observation(
                "flood-$video",
                views: 90_000 - $video,
                channel: 'Flood',
            );
        }
        for ($video = 0; $video < 25; $video++) {
            $observations[] = StoredObservations::observation(
                sprintf('other-%02d', $video),
                views: 1000 - $video,
            );
        }
        StoredObservations::in($this->database, $observations);
        $this->publish();
        $ids = array_column($this->ranks(), 1);

        self::assertSame(['flood-0', 'flood-1', 'flood-2', 'other-00'], array_slice($ids, 0, 4));
        self::assertSame(['flood-3', 'flood-4', 'flood-5', 'other-21'], array_slice($ids, 24, 4));
        self::assertCount(31, $ids);
        self::assertCount(31, array_unique($ids));
    }

    #[Test]
    public function the_channel_limit_moves_videos_down_and_leaves_none_out(): void
    {
        $randomizer = Draws::randomizer();
        for ($draw = 0; $draw < Draws::count(usual: 100, long: 5000); $draw++) {
            $limit = new ChannelLimit($randomizer->getInt(1, 6), $randomizer->getInt(0, 60));
            $size = $randomizer->getInt(1, 120);
            $channels = $randomizer->getInt(1, 12);
            $list = new TopList($size, $limit);
            $left = [];
            $scores = 4 ** $randomizer->getInt(0, 4); // where there are few, many are equal
            foreach ($randomizer->shuffleArray(range(1, $randomizer->getInt(1, 700))) as $id) {
                $score = (float) $randomizer->getInt(1, $scores);
                $left[] = new Candidate(
                    (string) $id,
                    'c' . $randomizer->getInt(1, $channels),
                    $score,
                    Velocity::none(0),
                );
                $list->admits($score, end($left)->videoId, end($left)->channel) && $list->add(end($left));
            }
            $left = Candidate::sorted($left);
            // Rank by rank: the best that its channel's videos above allow, or else the best that is left.
            $expected = $above = [];
            while (count($expected) < $size && $left !== []) {
                $allowed = array_find_key(
                    $left,
                    static fn(Candidate $one): bool => count($expected) >= $limit->withinRanks ||
                        ($above[$one->channel] ?? 0) < $limit->videos,
                );
                [$next] = array_splice($left, $allowed ?? 0, 1);
                $above[$next->channel] = ($above[$next->channel] ?? 0) + 1;
                $expected[] = $next;
            }

            self::assertSame(
                array_column($expected, 'videoId'),
                array_column($list->ranked(Window::Now), 'videoId'),
                Draws::hint() . ", draw $draw",
            );
        }
    }

    #[Test]
    public function a_video_leaves_when_its_region_was_observed_without_it_for_more_than_48_hours(): void
    {
        StoredObservations::in($this->database, [
            StoredObservations::observation('deleted', observedAt: self::NOON - 48 * 3600 - 1),
            StoredObservations::observation('slow', observedAt: self::NOON - 48 * 3600),
            StoredObservations::observation('alive', observedAt: self::NOON),
        ]);
        $this->publish();

        self::assertEqualsCanonicalizing(['alive', 'slow'], array_column($this->ranks(), 1));
    }

    #[Test]
    public function an_outage_of_the_source_does_not_empty_the_list(): void
    {
        StoredObservations::in($this->database, [
            StoredObservations::observation('a'),
            StoredObservations::observation('b'),
        ]);
        $this->publish(self::NOON + 10 * 86_400);

        self::assertCount(2, $this->ranks());
    }

    #[Test]
    public function a_list_holds_the_500_best_of_all_and_the_100_best_of_a_category(): void
    {
        // Every number once, in an order that has some of the best come late.
        $views = array_map(static fn(int $video): int => 10_000 + (($video * 7919) % 1300), range(0, 1299));
        StoredObservations::in(
            $this->database,
            array_map(
                static fn(int $video): Observation => StoredObservations::observation(
                    sprintf('v%04d', $video),
                    views: $views[$video],
                    category: 'Music',
                ),
                range(0, 1299),
            ),
        );
        $this->publish();
        arsort($views);
        $best = array_map(static fn(int $video): string => sprintf('v%04d', $video), array_keys($views));

        self::assertSame(array_slice($best, 0, 500), array_column($this->ranks(), 1));
        self::assertSame(array_slice($best, 0, 100), array_column($this->ranks('GB', 'Music'), 1));
    }

    #[Test]
    public function channels_that_hold_all_of_the_best_do_not_end_a_list_while_there_are_others(): void
    {
        // More than are held at once of two channels, then, before and after them, a few of others.
        $flood = array_map(
            static fn(int $video): Observation => StoredObservations::observation(
                sprintf('flood-%04d', $video),
                views: 90_000 - $video,
                channel: 'Flood ' . $video % 2,
            ),
            range(0, 1499),
        );
        $others = array_map(
            static fn(int $video): Observation => StoredObservations::observation(
                sprintf('other-%02d', $video),
                views: 1000 - $video,
            ),
            range(0, 29),
        );
        StoredObservations::in($this->database, [
            ...array_slice($others, 0, 10),
            ...$flood,
            ...array_slice($others, 10),
        ]);
        $this->publish();
        $ids = array_column($this->ranks(), 1);

        self::assertSame(['flood-0005', 'other-00', 'other-01'], array_slice($ids, 5, 3));
        self::assertSame(['other-17', 'flood-0006', 'flood-0007'], array_slice($ids, 23, 3));
        self::assertCount(500, array_unique($ids));
    }

    private function publish(int $now = self::NOON): void
    {
        new RankingPublisher($this->database)->publish($now);
    }

    /** @return list<array{int, string}> rank and video of the newest list */
    private function ranks(string $region = 'GB', string $category = ''): array
    {
        return array_map(
            array_values(...),
            $this->database->rows(
                "SELECT rank, video_id FROM trending WHERE region = ? AND category = ? AND window = 'day' AND generation = (SELECT max(id) FROM generations) ORDER BY rank",
                [$region, $category],
            ),
        );
    }
}
