<?php

declare(strict_types=1);

namespace TrendVault\Writer\Tests\Ranking;

use PHPUnit\Framework\Attributes\Test;
use PHPUnit\Framework\TestCase;
use Random\Randomizer;
use TrendVault\Writer\Database\Database;
use TrendVault\Writer\Observations\Observation;
use TrendVault\Writer\Ranking\CountedImpressions;
use TrendVault\Writer\Ranking\ImpressionStore;
use TrendVault\Writer\Ranking\RankingPublisher;
use TrendVault\Writer\Ranking\Window;
use TrendVault\Writer\Tests\Support\Draws;
use TrendVault\Writer\Tests\Support\FixedClock;
use TrendVault\Writer\Tests\Support\MigratedDatabase;
use TrendVault\Writer\Tests\Support\StoredObservations;

final class ListKindsTest extends TestCase
{
    private const int NOON = FixedClock::NOON;

    private Database $database;

    protected function setUp(): void
    {
        $this->database = MigratedDatabase::inMemory();
    }

    #[Test]
    public function a_language_has_a_list_in_a_region_with_at_least_24_of_its_videos(): void
    {
        $this->observe(24, 'de');
        $this->observe(23, 'en');
        $this->observe(23, 'en', region: 'IE');
        $this->observe(30, null);
        $this->publish();

        self::assertSame(['#language:de'], $this->languageLists('GB'));
        self::assertSame([], $this->languageLists('IE'));
    }

    #[Test]
    public function regional_variants_count_for_their_language_and_what_names_none_does_not(): void
    {
        foreach (['de', 'DE', 'de-AT', 'De-Latn-CH-1996'] as $tag) {
            $this->observe(6, $tag);
        }
        foreach (['und', 'und-Latn', 'zxx', 'MUL', 'mis', 'german', 'qaaa-DE', 'xx12'] as $tag) {
            $this->observe(24, $tag);
        }
        $this->publish();

        self::assertSame(['#language:de'], $this->languageLists('GB'));
        self::assertCount(24, $this->ranks('#language:de'));
    }

    #[Test]
    public function a_title_is_in_the_first_language_of_the_region_that_the_video_has_one_in(): void
    {
        $random = Draws::randomizer();
        $draw = static fn(array $values): mixed => $values[$random->getInt(0, count($values) - 1)];
        $tags = ['de', 'de-AT', 'DE-ch', 'fr', 'fr-CA', 'en', 'nl'];
        for ($round = Draws::count(usual: 40, long: 4000); $round > 0; $round--) {
            $this->database = MigratedDatabase::inMemory();
            $spoken = $random->pickArrayKeys(array_flip($tags), $random->getInt(1, 3));
            $random->shuffleArray($spoken);
            $this->database->run("UPDATE regions SET languages = ? WHERE code = 'GB'", [
                json_encode($spoken),
            ]);
            $language = $draw([null, ...$tags]);
            $this->observe(3, $language);
            $titles = [];
            foreach ($random->pickArrayKeys(array_flip($tags), $random->getInt(1, 3)) as $tag) {
                $titles[$tag] = $draw(['One title', 'Another', 'A title']);
            }
            $this->database->run(
                'INSERT INTO details (video_id, titles) SELECT id, ? FROM videos ORDER BY id LIMIT 1',
                [json_encode($titles)],
            );
            $this->publish();
            $own = (string) $this->database->text('SELECT title FROM videos ORDER BY id LIMIT 1');
            $expected = self::titleFor($spoken, $titles, $language, $own);
            self::assertSame(
                array_fill(0, 3, $expected) + array_fill(3, 6, null),
                array_column(
                    $this->database->rows(
                        "SELECT title_in_region AS title FROM trending WHERE category = '' ORDER BY video_id",
                    ),
                    'title',
                ),
                Draws::hint() . json_encode([$spoken, $titles, $language]),
            );
        }
    }

    /**
     * @param list<string> $spoken
     * @param array<string, string> $titles by tag
     */
    private static function titleFor(array $spoken, array $titles, ?string $language, string $own): ?string
    {
        ksort($titles, SORT_STRING);
        foreach ($spoken as $tag) {
            $is = static fn(string $one): bool => strcasecmp($one, $tag) === 0;
            $isNear = static fn(string $one): bool => strtolower(substr($one, 0, 2)) ===
                strtolower(substr($tag, 0, 2));
            $isOwn = static fn(callable $matches): bool => $language !== null && $matches($language);
            $exact = array_find_key($titles, static fn(string $_, string $one): bool => $is($one));
            $near = array_find_key($titles, static fn(string $_, string $one): bool => $isNear($one));
            $found = $exact ?? ($isOwn($is) ? null : $near);
            if ($found !== null || $isOwn($isNear)) {
                return $found === null || $titles[$found] === $own ? null : "$found $titles[$found]";
            }
        }

        return null;
    }

    #[Test]
    public function a_region_has_lists_of_the_five_languages_with_the_most_videos_and_of_equal_ones_in_their_order(): void
    {
        foreach (['it' => 24, 'fr' => 24, 'es' => 24, 'de' => 30, 'en' => 26, 'pl' => 25] as $tag => $count) {
            $this->observe($count, $tag);
        }
        $this->publish();

        self::assertSame(
            ['#language:de', '#language:en', '#language:es', '#language:fr', '#language:pl'],
            $this->languageLists('GB'),
        );
    }

    #[Test]
    public function a_list_of_a_language_is_the_list_of_all_without_the_videos_of_others(): void
    {
        $random = Draws::randomizer();
        $tags = [];
        foreach (range(1, 450) as $video) {
            $tags["video-$video"] = self::drawTag($random);
        }
        $this->store(
            array_map(
                fn(string $id): Observation => StoredObservations::observation(
                    $id,
                    views: $random->getInt(1, 100_000),
                    category: ['Music', 'News', null][$random->getInt(0, 2)],
                    language: $tags[$id],
                ),
                array_keys($tags),
            ),
        );
        $this->publish();
        $all = $this->ranks('');
        foreach (['de', 'en', 'pt'] as $language) {
            // RFC 4647, 3.3.1
            $expected = array_filter(
                $all,
                static fn(string $id): bool => strcasecmp($tags[$id] ?? '', $language) === 0 ||
                    stripos($tags[$id] ?? '', "$language-") === 0,
            );
            self::assertSame(
                array_slice(array_values($expected), 0, 100),
                $this->ranks("#language:$language"),
                Draws::hint(),
            );
        }
    }

    #[Test]
    public function what_is_for_kids_live_short_or_long_has_lists_with_at_most_a_tenth_of_the_ranks_of_the_others(): void
    {
        $random = Draws::randomizer();
        for ($draws = Draws::count(usual: 6, long: 200); $draws > 0; $draws--) {
            $this->setUp();
            $kinds = ['audience=kids' => [], 'live=now' => [], 'duration=short' => [], 'duration=long' => []];
            $many = $random->getInt(1, 8); // of so many videos, one is of a rare kind
            $this->store(
                array_map(
                    static fn(int $video): Observation => StoredObservations::observation(
                        "video-$video",
                        views: $random->getInt(1, 100_000),
                        category: ['Music', 'News', null][$random->getInt(0, 2)],
                        language: self::drawTag($random),
                    ),
                    range(1, $random->getInt(50, 400)),
                ),
            );
            foreach ($this->database->texts('SELECT id FROM videos') as $id) {
                $isForKids = $random->getInt(1, $many) === 1;
                $live =
                    $random->getInt(1, $many) === 1
                        ? ['now', 'scheduled', 'recorded'][$random->getInt(0, 2)]
                        : null;
                $end = self::NOON + [-1, 0, 1][$random->getInt(0, 2)];
                $seconds = [null, 0, 1, 239, 240, 1200, 1201, 9000][$random->getInt(0, 7)];
                $this->database->run(
                    'UPDATE videos SET made_for_kids = ?, live = ?, live_until = ?, duration_seconds = ? WHERE id = ?',
                    [$isForKids ? 1 : null, $live, $live === 'recorded' ? null : $end, $seconds, $id],
                );
                $isLive = in_array($live, ['now', 'scheduled'], true) && $end > self::NOON;
                $kinds['audience=kids'][$id] = $isForKids;
                $kinds['live=now'][$id] = $isLive && $live === 'now';
                $kinds['duration=short'][$id] = !$isLive && $seconds >= 1 && $seconds < 240;
                $kinds['duration=long'][$id] = !$isLive && $seconds > 1200;
            }
            $this->publish();
            $listed = array_filter($kinds, static fn(array $isOf): bool => count(array_filter($isOf)) >= 24);
            $others = (int) $this->database->number(
                "SELECT count(*) FROM trending WHERE window = 'day' AND NOT category GLOB '#language:*=*'",
            );
            $most = min(48, intdiv($others, 10 * max(1, count($listed))));
            foreach ($kinds as $kind => $isOf) {
                $expected = array_filter($this->ranks(''), static fn(string $id): bool => $isOf[$id]);
                self::assertSame(
                    isset($listed[$kind]) ? array_slice(array_values($expected), 0, $most) : [],
                    $this->ranks("#language:$kind"),
                    "$kind, " . Draws::hint(),
                );
            }
        }
    }

    #[Test]
    public function channels_are_limited_and_removed_videos_left_out_as_in_every_list(): void
    {
        $this->observe(10, 'de', channel: 'Flood', views: 90_000);
        $this->observe(30, 'de');
        $this->database->run("INSERT INTO removals VALUES ('video', 'de-GB-Flood-1', 'a test', 0)");
        $this->publish();
        $ids = $this->ranks('#language:de');

        self::assertSame(['de-GB-Flood-2', 'de-GB-Flood-3', 'de-GB-Flood-4'], array_slice($ids, 0, 3));
        self::assertCount(3, preg_grep('/Flood/', array_slice($ids, 0, 24)) ?: []);
        self::assertCount(39, $ids);
    }

    #[Test]
    public function a_removal_may_leave_too_few_videos_for_a_list(): void
    {
        $this->observe(24, 'de');
        $this->database->run("INSERT INTO removals VALUES ('video', 'de-GB--1', 'a test', 0)");
        $this->publish();

        self::assertSame([], $this->languageLists('GB'));
    }

    #[Test]
    public function a_list_that_visitors_look_at_explores_within_its_share_and_one_that_few_see_does_not(): void
    {
        $this->observe(60, 'de');
        $this->observe(60, 'en');
        $this->publish();
        $impressions = array_map(
            fn(int $index, string $id): CountedImpressions => new CountedImpressions(
                self::NOON,
                'GB',
                $id,
                $index + 1,
                2000 / ($index + 1),
                crc32($id) % ((int) (200 / ($index + 1)) + 1), // of which some get so little that the list tries others
                Window::Day,
                '#language:de',
            ),
            array_keys(array_slice($this->ranks('#language:de'), 0, 48)),
            array_slice($this->ranks('#language:de'), 0, 48),
        );
        foreach ($this->ranks('') as $index => $id) {
            $impressions[] = new CountedImpressions(
                self::NOON,
                'GB',
                $id,
                $index + 1,
                1e-6,
                0.0,
                Window::Day,
            );
        }
        new ImpressionStore($this->database)->add($impressions);
        foreach ([0.0, 0.25] as $share) {
            $this->publish($share);
            $explored = array_column(
                $this->database->rows(
                    "SELECT rank FROM explored_ranks WHERE generation = (SELECT max(id) FROM generations) AND region = 'GB' AND window = 'day' AND category = '#language:de'",
                ),
                'rank',
            );
            self::assertSame($share > 0, $explored !== []);
            self::assertSame(
                count($explored),
                $this->database->value(
                    'SELECT count(*) FROM explored_ranks WHERE generation = (SELECT max(id) FROM generations)',
                ),
            );
            $all = array_sum(array_map(static fn(int $rank): float => 1 / $rank, range(1, 48)));
            $part = array_sum(
                array_map(static fn(int $rank): float => $rank > 48 ? 0.0 : 1 / $rank, $explored),
            );
            // Ranks of a group share their impressions: the sum over ranks differs a little from the one over groups.
            self::assertLessThanOrEqual(1.3 * $share * $all, $part);
        }
    }

    #[Test]
    public function a_rank_is_compared_with_the_one_in_the_list_of_the_language_an_hour_before(): void
    {
        $this->observe(30, 'de');
        $this->observe(5, 'en', views: 50_000);
        $this->publish();
        $this->publish(at: self::NOON + 3600);

        self::assertSame(
            [1, 6],
            array_column(
                $this->database->rows(
                    "SELECT category, previous_rank FROM trending WHERE generation = 2 AND window = 'day' AND video_id = 'de-GB--1' ORDER BY category DESC",
                ),
                'previous_rank',
            ),
        );
    }

    private function observe(
        int $count,
        ?string $tag,
        string $region = 'GB',
        string $channel = '',
        int $views = 1000,
    ): void {
        $this->store(
            array_map(
                static fn(int $number): Observation => StoredObservations::observation(
                    "$tag-$region-$channel-$number",
                    region: $region,
                    views: $views - $number,
                    channel: $channel === '' ? null : $channel,
                    language: $tag,
                ),
                range(1, $count),
            ),
        );
    }

    /** @param list<Observation> $observations */
    private function store(array $observations): void
    {
        StoredObservations::in($this->database, $observations);
    }

    private function publish(float $exploreShare = 0.0, int $at = self::NOON): void
    {
        new RankingPublisher($this->database, $exploreShare)->publish($at);
    }

    /** @return list<string> */
    private function languageLists(string $region): array
    {
        $rows = $this->database->rows(
            "SELECT DISTINCT category FROM trending WHERE generation = (SELECT max(id) FROM generations) AND region = ? AND category GLOB '#*' ORDER BY category",
            [$region],
        );

        return array_column($rows, 'category');
    }

    /** @return list<string> the videos of a list of GB in their order */
    private function ranks(string $name): array
    {
        $rows = $this->database->rows(
            "SELECT video_id FROM trending WHERE generation = (SELECT max(id) FROM generations) AND region = 'GB' AND window = 'day' AND category = ? ORDER BY rank",
            [$name],
        );

        return array_column($rows, 'video_id');
    }

    private static function drawTag(Randomizer $random): ?string
    {
        $language = ['de', 'en', 'pt', 'den', 'deu'][$random->getInt(0, 4)];
        $tag = $language . ['', '', '-AT', '-Latn-BR', '-x-de'][$random->getInt(0, 4)];

        return [null, $tag, $tag, strtoupper($tag), ucfirst($tag)][$random->getInt(0, 4)];
    }
}
