<?php

declare(strict_types=1);

namespace TrendVault\Writer\Tests\Ingest;

use PHPUnit\Framework\Attributes\DataProvider;
use PHPUnit\Framework\Attributes\Test;
use PHPUnit\Framework\TestCase;
use TrendVault\Writer\Database\Database;
use TrendVault\Writer\Ingest\Outcome;
use TrendVault\Writer\Observations\Observation;
use TrendVault\Writer\Observations\RejectedLine;
use TrendVault\Writer\Observations\RejectionReason;
use TrendVault\Writer\Tests\Support\FixedClock;
use TrendVault\Writer\Tests\Support\MigratedDatabase;
use TrendVault\Writer\Tests\Support\StoredObservations;

final class ObservationStoreTest extends TestCase
{
    private const int NOON = FixedClock::NOON;

    private Database $database;

    protected function setUp(): void
    {
        $this->database = MigratedDatabase::inMemory();
    }

    #[Test]
    public function observations_of_a_video_are_linked_from_the_newest_backwards(): void
    {
        $this->add(
            StoredObservations::observation(observedAt: self::NOON - 120),
            StoredObservations::observation(observedAt: self::NOON - 60),
        );
        $this->add(StoredObservations::observation(observedAt: self::NOON));

        self::assertSame(
            [null, self::NOON - 120, self::NOON - 60],
            array_column(
                $this->database->rows('SELECT previous_observed_at FROM observations ORDER BY observed_at'),
                'previous_observed_at',
            ),
        );
        self::assertSame(
            [self::NOON - 120, self::NOON, 3],
            array_values(
                $this->database->rows(
                    'SELECT first_observed_at, last_observed_at, observation_count FROM velocity',
                )[0],
            ),
        );
    }

    #[Test]
    public function the_url_of_a_later_line_is_stored_and_a_line_without_one_keeps_it(): void
    {
        $url = 'https://videos.example/watch/video-1';
        $this->add(StoredObservations::observation(observedAt: self::NOON - 120));
        $this->add(StoredObservations::observation(observedAt: self::NOON - 60, url: $url));
        self::assertSame($url, $this->database->value('SELECT url FROM videos'));

        $this->add(StoredObservations::observation(observedAt: self::NOON));
        self::assertSame($url, $this->database->value('SELECT url FROM videos'));
    }

    #[Test]
    public function a_late_observation_is_kept_outside_the_chain_and_moves_no_velocity(): void
    {
        $this->add(StoredObservations::observation(observedAt: self::NOON));
        $before = $this->database->rows('SELECT * FROM velocity');

        self::assertSame(
            [Outcome::Late],
            $this->add(
                StoredObservations::observation(
                    observedAt: self::NOON - 60,
                    views: 5,
                    title: 'An older title',
                ),
            ),
        );
        self::assertSame($before, $this->database->rows('SELECT * FROM velocity'));
        self::assertSame(
            2,
            $this->database->value('SELECT count(*) FROM observations WHERE previous_observed_at IS NULL'),
        );
        self::assertSame('A title', $this->database->value('SELECT title FROM videos'));
    }

    #[Test]
    public function the_first_view_count_of_a_time_stays_and_another_one_is_counted_as_conflicting(): void
    {
        $this->add(
            StoredObservations::observation(observedAt: self::NOON - 60, views: 10),
            StoredObservations::observation(observedAt: self::NOON, views: 20),
        );

        self::assertSame(
            [Outcome::Unchanged, Outcome::Conflicting, Outcome::Conflicting],
            $this->add(
                StoredObservations::observation(views: 20),
                StoredObservations::observation(views: 21),
                StoredObservations::observation(observedAt: self::NOON - 60, views: 11),
            ),
        );
        self::assertSame(
            [10, 20],
            array_column(
                $this->database->rows('SELECT views FROM observations ORDER BY observed_at'),
                'views',
            ),
        );
    }

    #[Test]
    public function a_later_line_replaces_the_fields_that_it_has_and_keeps_the_others(): void
    {
        $this->add(
            StoredObservations::observation(
                observedAt: self::NOON - 60,
                category: 'Music',
                publishedAt: self::NOON - 3600,
            ),
        );
        $this->add(new Observation('video-1', 'GB', self::NOON, 2000, title: 'A better title'));

        self::assertSame(
            ['A better title', 'Channel of video-1', 'Music', self::NOON - 3600],
            array_values(
                $this->database->rows('SELECT title, channel, category, published_at FROM videos')[0],
            ),
        );
    }

    #[Test]
    public function an_observation_in_one_region_does_not_change_another_region(): void
    {
        $this->add(StoredObservations::observation(region: 'GB', observedAt: self::NOON - 60, views: 999));
        $this->add(
            StoredObservations::observation(region: 'DE', views: 10),
            StoredObservations::observation(region: 'GB', views: 1000),
        );

        self::assertSame(
            [['DE', self::NOON, 1, 10], ['GB', self::NOON - 60, 2, 1000]],
            array_map(
                array_values(...),
                $this->database->rows(
                    'SELECT region, first_observed_at, observation_count, views FROM velocity ORDER BY region',
                ),
            ),
        );
    }

    /** @return iterable<string, array{string, string, string|int}> field of an observation, column of videos, value */
    public static function descriptions(): iterable
    {
        yield 'title' => ['title', 'title', 'Another title'];
        yield 'channel' => ['channel', 'channel', 'Another channel'];
        yield 'thumb base' => ['thumbBase', 'thumb_base', 'https://thumbs.example/another'];
        yield 'category' => ['category', 'category', 'Music'];
        yield 'language' => ['language', 'language', 'pt-BR'];
        yield 'time of publication' => ['publishedAt', 'published_at', self::NOON - 7200];
        yield 'licence' => ['details', 'licence', 'CC0-1.0'];
        yield 'duration' => ['durationSeconds', 'duration_seconds', 61];
    }

    #[Test]
    #[DataProvider('descriptions')]
    public function one_thing_that_a_later_line_says_otherwise_is_enough_to_store_it(
        string $field,
        string $column,
        string|int $value,
    ): void {
        $described = [
            'title' => 'A title',
            'channel' => 'A channel',
            'thumbBase' => 'https://thumbs.example/one',
        ];
        $this->add(new Observation('video-1', 'GB', self::NOON - 60, 900, ...$described));
        $this->add(
            new Observation(
                'video-1',
                'GB',
                self::NOON,
                1000,
                ...[...$described, $field => $field === 'details' ? [$column => $value] : $value],
            ),
        );

        self::assertSame(
            $value,
            $this->database->value("SELECT $column FROM videos LEFT JOIN details ON video_id = id"),
        );
    }

    #[Test]
    public function a_video_without_a_description_is_stored_when_another_region_described_it_in_the_same_batch(): void
    {
        self::assertSame(
            [Outcome::Accepted, Outcome::Accepted],
            $this->add(
                StoredObservations::observation(region: 'GB'),
                new Observation('video-1', 'DE', self::NOON, 70),
            ),
        );
    }

    #[Test]
    public function a_video_whose_first_line_has_no_picture_is_rejected_with_both_ways_to_name_one(): void
    {
        $this->expectExceptionMessage(
            'thumb_base: expected it, or pictures, on the first line about a video',
        );
        $this->add(new Observation('video-1', 'GB', self::NOON, 70, title: 'A title', channel: 'A channel'));
    }

    #[Test]
    public function a_video_without_any_description_is_rejected_and_nothing_of_it_is_stored(): void
    {
        try {
            $this->add(new Observation('video-1', 'GB', self::NOON, 70, title: 'Only a title'));
            self::fail('it was taken');
        } catch (RejectedLine $rejected) {
            self::assertSame(RejectionReason::MissingMetadata, $rejected->reason);
            self::assertStringStartsWith('channel:', $rejected->getMessage());
        }
        self::assertSame(
            0,
            $this->database->value(
                'SELECT (SELECT count(*) FROM videos) + (SELECT count(*) FROM observations) + (SELECT count(*) FROM velocity)',
            ),
        );
    }

    #[Test]
    public function ids_that_look_like_numbers_stay_text(): void
    {
        $this->add(
            StoredObservations::observation(videoId: '12345', observedAt: self::NOON - 60),
            StoredObservations::observation(videoId: '012345'),
        );
        $this->add(StoredObservations::observation(videoId: '12345', views: 3000));

        self::assertSame(
            ['012345', '12345'],
            array_column($this->database->rows('SELECT id FROM videos ORDER BY id'), 'id'),
        );
        self::assertSame(
            2,
            $this->database->value("SELECT observation_count FROM velocity WHERE video_id = '12345'"),
        );
    }

    /** @return list<Outcome> */
    private function add(Observation ...$observations): array
    {
        return StoredObservations::in($this->database, $observations);
    }
}
