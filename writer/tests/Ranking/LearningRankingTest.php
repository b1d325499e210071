<?php

declare(strict_types=1);

namespace TrendVault\Writer\Tests\Ranking;

use PHPUnit\Framework\Attributes\Test;
use PHPUnit\Framework\TestCase;
use TrendVault\Writer\Database\Database;
use TrendVault\Writer\Database\RemovalKind;
use TrendVault\Writer\Database\Removals;
use TrendVault\Writer\Editorial\Editorial;
use TrendVault\Writer\Observations\Restrictions;
use TrendVault\Writer\Ranking\ClickModel;
use TrendVault\Writer\Ranking\CountedImpressions;
use TrendVault\Writer\Ranking\Forecast;
use TrendVault\Writer\Ranking\ImpressionStore;
use TrendVault\Writer\Ranking\RankingPublisher;
use TrendVault\Writer\Ranking\Window;
use TrendVault\Writer\Tests\Support\Draws;
use TrendVault\Writer\Tests\Support\FixedClock;
use TrendVault\Writer\Tests\Support\MigratedDatabase;
use TrendVault\Writer\Tests\Support\StoredObservations;

final class LearningRankingTest extends TestCase
{
    private const int NOON = FixedClock::NOON;
    private const float EXPLORE_SHARE = 0.25;
    private const string LIST = <<<'SQL'
    SELECT rank, video_id, score FROM trending
    WHERE generation = ? AND region = 'GB' AND window = 'day' AND category = '' ORDER BY rank
    SQL;

    private const array RULE = ['until' => '2999-01-01T00:00:00Z', 'reason' => 'a test'];

    private Database $database;

    protected function setUp(): void
    {
        $this->database = MigratedDatabase::inMemory();
        mt_srand(Draws::seed());
    }

    #[Test]
    public function a_region_without_impressions_ranks_by_the_forecast_to_the_last_digit(): void
    {
        $this->observe(200);
        $before = $this->publish();
        $this->catalogue('announced', 'FR');
        $this->see('FR', 'announced', 1, 50, 20);

        self::assertSame($before, $this->publish(), Draws::hint());
    }

    #[Test]
    public function the_first_impressions_and_clicks_of_a_region_change_its_list_gradually(): void
    {
        mt_srand(Draws::measuredSeeds(1)[0]);
        $this->observe(300);
        $list = $this->publish();
        for ($message = 0; $message < 60; $message++) {
            $rank = mt_rand(1, 48);
            $this->see('GB', $list[$rank - 1]['video_id'], $rank, 1, mt_rand(0, 1));
            $next = $this->publish();
            self::assertLessThanOrEqual(3, self::largestMove($list, $next), Draws::hint());
            $list = $next;
        }
    }

    #[Test]
    public function a_video_that_more_of_those_who_look_open_climbs_and_one_that_nobody_opens_falls(): void
    {
        mt_srand(Draws::measuredSeeds(1)[0]);
        $this->observe(100);
        $ids = array_column($this->publish(), 'video_id');
        for ($rank = 1; $rank <= 48; $rank++) {
            $this->see('GB', $ids[$rank - 1], $rank, 4000, $rank === 30 ? 1200 : ($rank === 1 ? 0 : 80));
        }
        $ranks = array_flip(array_column($this->publish(), 'video_id'));

        self::assertSame(0, $ranks[$ids[29]]);
        self::assertGreaterThan(24, $ranks[$ids[0]]);
    }

    #[Test]
    public function a_site_with_nothing_but_a_catalogue_has_a_list_newest_first_and_learns(): void
    {
        foreach (range(1, 40) as $hour) {
            $this->catalogue("video-$hour", 'GB', self::NOON - 3600 * $hour);
        }
        $list = $this->publish();
        self::assertSame('video-1', $list[0]['video_id']);
        self::assertCount(40, $list);
        StoredObservations::in($this->database, [
            StoredObservations::observation('unwatched', views: 0, channel: 'unwatched'),
        ]);
        self::assertSame(
            ['unwatched', 'video-1'],
            array_slice(array_column($this->publish(), 'video_id'), 0, 2),
        );
        foreach ($list as ['rank' => $rank, 'video_id' => $id]) {
            $this->see('GB', $id, $rank, 500, $id === 'video-20' ? 100 : 2);
        }

        self::assertSame('video-20', $this->publish()[0]['video_id']);
    }

    #[Test]
    public function a_video_without_a_date_stays_as_old_as_it_is_when_it_is_counted_for_the_first_time(): void
    {
        foreach (range(1, 40) as $number) {
            $firstSeenAt = self::NOON - 3600 * 3 * $number;
            $this->catalogue("video-$number", 'GB', $firstSeenAt);
            foreach (range(1, 3 * $number) as $hour) {
                $this->see('GB', "video-$number", 5, 1000, 400 / ($hour + 1), $firstSeenAt + 3600 * $hour);
            }
        }
        $this->database->run('UPDATE videos SET published_at = NULL');
        $before = array_column($this->publish(0.0), 'score', 'video_id');
        StoredObservations::in($this->database, [
            StoredObservations::observation('video-30', views: 100, channel: 'video-30'),
        ]);
        $after = array_column($this->publish(0.0), 'score', 'video_id');

        self::assertEqualsWithDelta($before['video-30'], $after['video-30'], 0.1 * $before['video-30']);
    }

    #[Test]
    public function explored_ranks_get_at_most_their_share_of_the_impressions_and_none_when_it_is_zero(): void
    {
        mt_srand(Draws::measuredSeeds(1)[0]);
        $this->observe(100);
        $list = $this->publish();
        for ($rank = 1; $rank <= 48; $rank++) {
            $this->see(
                'GB',
                $list[$rank - 1]['video_id'],
                $rank,
                2000 / $rank,
                mt_rand(0, (int) (200 / $rank)),
            );
        }
        foreach ([0.0, 0.02, 0.25, 1.0] as $share) {
            $generation = new RankingPublisher($this->database, $share)->publish(self::NOON)->id;
            $explored = $this->database->rows(
                "SELECT rank FROM explored_ranks WHERE generation = ? AND region = 'GB' AND window = 'day' AND category = ''",
                [$generation],
            );
            $impressions = array_sum(
                array_map(
                    static fn(int $rank): float => $rank > 48 ? 0.0 : 1 / $rank,
                    array_column($explored, 'rank'),
                ),
            );
            $all = array_sum(array_map(static fn(int $rank): float => 1 / $rank, range(1, 48)));
            // Ranks of a group share their impressions: the sum over ranks differs a little from the one over groups.
            self::assertLessThanOrEqual(1.3 * $share * $all, $impressions, Draws::hint());
        }
    }

    #[Test]
    public function what_nobody_has_seen_is_tried_where_hundreds_were_opened_once(): void
    {
        foreach (range(1, 700) as $number) {
            $this->catalogue("video-$number", 'GB', self::NOON - 3_600_000);
            if ($number <= 400) {
                [$impressions, $clicks] =
                    $number <= 60 ? [200, 8 + ($number % 30)] : [10, $number <= 220 ? 1 : 0];
                $this->see('GB', "video-$number", 1 + ($number % 48), $impressions, $clicks);
            }
        }
        $unseen = 0;
        foreach (array_slice($this->publish(), 0, 48) as ['video_id' => $id]) {
            $unseen += (int) substr($id, 6) > 400 ? 1 : 0;
        }

        self::assertGreaterThan(4, $unseen);
    }

    #[Test]
    public function the_same_database_gives_the_same_list_and_names_the_formula(): void
    {
        $this->observe(100);
        $this->visitAll($this->publish(), 5000);
        $first = $this->publish();

        self::assertSame($first, $this->publish());
        self::assertSame(
            Forecast::VERSION . '+' . ClickModel::VERSION,
            $this->database->value('SELECT formula FROM generations ORDER BY id DESC LIMIT 1'),
        );
    }

    #[Test]
    public function a_video_that_is_taken_down_changes_no_other_score(): void
    {
        $this->observe(60);
        $this->visitAll($this->publish(), 300);
        $this->catalogue('announced', 'GB');
        $this->see('GB', 'announced', 2, 200, 30);
        $unseen = StoredObservations::observation('unseen', views: 5_000_000, channel: 'another');
        StoredObservations::in($this->database, [$unseen]);
        $scores = array_column($this->publish(0.0), 'score', 'video_id');
        foreach ([array_key_first($scores), 'announced', 'unseen'] as $id) {
            new Removals($this->database)->remove(RemovalKind::Video, $id, 'a test', self::NOON);
            unset($scores[$id]);

            self::assertSame($scores, array_column($this->publish(0.0), 'score', 'video_id'));
        }
    }

    #[Test]
    public function a_video_that_may_not_be_shown_changes_no_other_score(): void
    {
        $this->observe(60);
        $this->visitAll($this->publish(), 300);
        $this->catalogue('announced', 'GB');
        $this->see('GB', 'announced', 2, 200, 30);
        $scores = array_column($this->publish(0.0), 'score', 'video_id');
        foreach ([array_key_first($scores), 'announced'] as $id) {
            new Restrictions($this->database)->say(
                $id,
                0,
                self::NOON,
                ['countries' => ['excluded' => ['GB']]],
                [],
            );
            unset($scores[$id]);

            self::assertSame($scores, array_column($this->publish(0.0), 'score', 'video_id'));
        }
    }

    #[Test]
    public function a_rule_changes_the_scores_of_its_videos_by_its_factor_and_no_others(): void
    {
        $this->observe(60);
        $this->visitAll($this->publish(), mt_rand(10, 3000));
        $this->catalogue('announced', 'GB');
        $this->see('GB', 'announced', 2, 200, 30);
        $this->catalogue('unknown', 'GB');
        $scores = array_column($this->publish(0.0), 'score', 'video_id');
        $ids = array_unique([...array_rand($scores, 5), 'announced', 'unknown']);
        foreach ([0.0, 0.25] as $factor) {
            $rules = [];
            foreach ($ids as $id) {
                $channel = $this->database->text('SELECT channel FROM videos WHERE id = ?', [$id]);
                $rules[] = ['channel' => $channel, 'factor' => $factor, ...self::RULE];
            }
            $file = json_encode(['rules' => $rules], JSON_THROW_ON_ERROR);
            $ruled = Editorial::read($file, null, self::NOON)->rulesAt(self::NOON, []);
            $publisher = new RankingPublisher($this->database, rules: $ruled);
            $list = $this->database->rows(self::LIST, [$publisher->publish(self::NOON)->id]);
            $expected = $scores;
            foreach ($ids as $id) {
                $expected[$id] *= $factor;
            }
            $expected = array_filter($expected);
            $found = array_column($list, 'score', 'video_id');
            ksort($expected);
            ksort($found);

            self::assertSame($expected, $found, Draws::hint());
        }
    }

    private function observe(int $videos): void
    {
        $observations = [];
        for ($video = 0; $video < $videos; $video++) {
            $observations[] = StoredObservations::observation(
                "video-$video",
                views: (int) (10_000 * exp(1.5 * self::normal())),
                channel: "channel-$video",
                publishedAt: self::NOON - mt_rand(1, 100) * 3600,
            );
        }
        StoredObservations::in($this->database, $observations);
    }

    private static function normal(): float
    {
        return sqrt(-2 * log(mt_rand(1, 1_000_000) / 1_000_000)) *
            cos((2 * M_PI * mt_rand()) / mt_getrandmax());
    }

    private function catalogue(string $id, string $region, int $publishedAt = self::NOON): void
    {
        $this->database->run(
            "INSERT INTO videos (id, title, channel, published_at, thumb_base, first_seen_at) VALUES (?1, ?1, ?1, ?2, 'https://t.example/', ?2)",
            [$id, $publishedAt],
        );
        $this->database->run('INSERT INTO catalogue (region, video_id, announced_at) VALUES (?, ?, ?)', [
            $region,
            $id,
            self::NOON,
        ]);
    }

    private function see(
        string $region,
        string $id,
        int $rank,
        float $impressions,
        float $clicks,
        int $at = self::NOON,
    ): void {
        new ImpressionStore($this->database)->add([
            new CountedImpressions($at, $region, $id, $rank, $impressions, $clicks, Window::Day),
        ]);
    }

    /** @param list<array{rank: int, video_id: string, score: float}> $list */
    private function visitAll(array $list, int $loads): void
    {
        foreach (array_slice($list, 0, 48) as ['rank' => $rank, 'video_id' => $id]) {
            $impressions = (int) ($loads / $rank ** 0.9);
            $this->see('GB', $id, $rank, $impressions, mt_rand(0, (int) ($impressions * 0.12)));
        }
    }

    /** @return list<array{rank: int, video_id: string, score: float}> */
    private function publish(float $exploreShare = self::EXPLORE_SHARE): array
    {
        $generation = new RankingPublisher($this->database, $exploreShare)->publish(self::NOON);

        return $this->database->rows(self::LIST, [$generation->id]);
    }

    /**
     * @param list<array{rank: int, video_id: string, score: float}> $before
     * @param list<array{rank: int, video_id: string, score: float}> $after
     */
    private static function largestMove(array $before, array $after): int
    {
        $ranks = array_column($after, 'rank', 'video_id');
        $moves = [0];
        foreach (array_slice($before, 0, 24) as ['rank' => $rank, 'video_id' => $id]) {
            $moves[] = abs($rank - ($ranks[$id] ?? 1000));
        }

        return max($moves);
    }
}
