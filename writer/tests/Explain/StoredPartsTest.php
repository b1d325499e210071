<?php

declare(strict_types=1);

namespace TrendVault\Writer\Tests\Explain;

use PHPUnit\Framework\Attributes\Test;
use PHPUnit\Framework\TestCase;
use TrendVault\Writer\Commands\SourceKinds;
use TrendVault\Writer\Database\Database;
use TrendVault\Writer\Explain\VisitorFacts;
use TrendVault\Writer\Explain\StoredParts;
use TrendVault\Writer\Ranking\RankingPublisher;
use TrendVault\Writer\Tests\Support\Draws;
use TrendVault\Writer\Tests\Support\FixedClock;
use TrendVault\Writer\Tests\Support\MigratedDatabase;
use TrendVault\Writer\Tests\Support\StoredObservations;

final class StoredPartsTest extends TestCase
{
    private const int NOON = FixedClock::NOON;

    private Database $database;

    protected function setUp(): void
    {
        $this->database = MigratedDatabase::inMemory();
    }

    #[Test]
    public function what_is_stored_of_impressions_is_what_follows_from_all_that_is_stored(): void
    {
        $random = Draws::randomizer();
        for ($video = 0; $video < 40; $video++) {
            $this->observe("v$video", $random->getInt(0, 5000));
        }
        for ($video = 0; $video < 40; $video += 2) {
            $impressions = $random->getInt(1, 2000);
            $this->database->run('INSERT INTO impressions VALUES (?, ?, ?, ?, ?, ?, ?, ?, 0, 0)', [
                ...['GB', "v$video", $random->getInt(0, 1) === 0 ? 1 : 25, 3, $impressions],
                ...[$random->getInt(0, 100), 3.0, self::NOON - $random->getInt(0, 9999)],
            ]);
        }
        $id = $this->publish();
        for ($video = 0; $video < 40; $video++) {
            $stored = StoredParts::find($this->database, $id, 'GB', "v$video");
            self::assertNotNull($stored);
            $computed = VisitorFacts::find($this->database, 'GB', "v$video", $id, self::NOON, 0, null);
            self::assertEquals($computed?->parts, $stored->visitors, Draws::hint());
        }
    }

    #[Test]
    public function of_those_that_were_seen_and_that_a_list_lacks_the_200_best_are_explained_with_their_scores(): void
    {
        for ($video = 0; $video < 720; $video++) {
            // Old ones are in more lists of a week than in those of some hours.
            StoredObservations::in($this->database, [
                StoredObservations::observation(
                    "v$video",
                    views: (int) (($video % 2 === 0 ? 1 : 40) * 90_000 * 0.99 ** $video),
                    publishedAt: self::NOON - ($video % 2 === 0 ? 1 : 40) * 86_400,
                ),
            ]);
            $this->database->run('INSERT INTO impressions VALUES (?, ?, ?, ?, ?, ?, ?, ?, 0, 0)', [
                ...['GB', "v$video", 1, 3, 1, 0, 3.0, self::NOON],
            ]);
        }
        $id = $this->publish();
        $scores = array_filter(
            array_map(
                static fn(array $values): array => array_slice($values, 10),
                json_decode((string) $this->database->value('SELECT parts FROM explanations'), true),
            ),
        );
        $listed = $this->database->texts(
            "SELECT video_id FROM trending WHERE category = '' GROUP BY video_id HAVING count(*) = 3",
        );
        $some = $this->database->texts("SELECT video_id FROM trending WHERE category = ''");
        $best = $this->database->texts(
            "SELECT video_id FROM trending WHERE category = '' AND window = 'day' AND rank > 400",
        );

        self::assertCount(200, $scores);
        self::assertSame([], array_intersect(array_keys($scores), $listed));
        self::assertNotSame([], array_intersect(array_keys($scores), $some));
        self::assertSame([], array_diff($best, [...array_keys($scores), ...$listed]));
    }

    #[Test]
    public function a_rank_that_the_limit_by_channel_has_changed_is_stored_with_the_one_without_it(): void
    {
        for ($video = 0; $video < 5; $video++) {
            $this->observe("flood-$video", 90_000 - $video, 'Flood');
        }
        for ($video = 0; $video < 30; $video++) {
            $this->observe(sprintf('other-%02d', $video), 1000 - $video);
        }
        $id = $this->publish();

        $expected = [4 => 6, 5 => 7, 24 => 26, 25 => 4, 26 => 5];
        $limited = $this->limited($id);
        self::assertSame(range(4, 26), array_keys($limited));
        self::assertSame($expected, array_intersect_key($limited, $expected));
    }

    #[Test]
    public function a_rank_beyond_the_end_of_the_list_is_none(): void
    {
        for ($video = 0; $video < 1600; $video++) {
            $this->observe("flood-$video", 900_000 - $video, 'Flood');
        }
        for ($video = 0; $video < 30; $video++) {
            $this->observe(sprintf('other-%02d', $video), 1000 - $video);
        }
        $id = $this->publish();

        $limited = $this->limited($id);
        self::assertSame(
            [4 => null, 24 => null, 25 => 4],
            [
                4 => $limited[4],
                24 => $limited[24],
                25 => $limited[25],
            ],
        );
        self::assertNull(StoredParts::find($this->database, $id, 'GB', 'flood-1599'));
    }

    #[Test]
    public function only_the_two_newest_generations_are_explained(): void
    {
        $this->observe('a', 10);
        for ($run = 0; $run < 4; $run++) {
            $this->publish();
        }

        self::assertSame(
            [3, 4],
            array_column($this->database->rows('SELECT DISTINCT generation FROM explanations'), 'generation'),
        );
    }

    #[Test]
    public function of_sources_only_kinds_and_hosts_are_said(): void
    {
        self::assertSame(
            [
                ['kind' => 'ndjson', 'host' => null],
                ['kind' => 'edge', 'host' => 'lists.example'],
                ['kind' => 'http', 'host' => 'stats.example'],
                ['kind' => 'youtube', 'host' => 'www.googleapis.com'],
                ['kind' => 'demo', 'host' => null],
            ],
            SourceKinds::of([
                'spool:/srv/secret',
                '/data/views.ndjson',
                'edge:https://key:word@lists.example:8443',
                'http:https://stats.example:8443/views.ndjson?key=word',
                'youtube',
                'demo',
                'demo',
            ]),
        );
    }

    private function observe(string $id, int $views, ?string $channel = null): void
    {
        StoredObservations::in($this->database, [
            StoredObservations::observation($id, views: $views, channel: $channel),
        ]);
    }

    private function publish(): int
    {
        return new RankingPublisher($this->database, 0.25)->publish(self::NOON)->id;
    }

    /** @return array<int, ?int> by rank */
    private function limited(int $generation): array
    {
        return StoredParts::find($this->database, $generation, 'GB', 'other-00')->limited['day'] ?? [];
    }
}
