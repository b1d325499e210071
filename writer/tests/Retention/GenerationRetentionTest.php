<?php

declare(strict_types=1);

namespace TrendVault\Writer\Tests\Retention;

use PHPUnit\Framework\Attributes\DataProvider;
use PHPUnit\Framework\Attributes\Test;
use PHPUnit\Framework\TestCase;
use TrendVault\Writer\Cli\Settings;
use TrendVault\Writer\Database\Database;
use TrendVault\Writer\Ranking\Generation;
use TrendVault\Writer\Ranking\RankingPublisher;
use TrendVault\Writer\Retention\Pruning;
use TrendVault\Writer\Tests\Support\FixedClock;
use TrendVault\Writer\Tests\Support\MigratedDatabase;
use TrendVault\Writer\Tests\Support\StoredObservations;

final class GenerationRetentionTest extends TestCase
{
    private const int NOON = FixedClock::NOON;

    private Database $database;

    protected function setUp(): void
    {
        $this->database = MigratedDatabase::inMemory();
    }

    /** @return iterable<string, array{list<int>, list<int>}> seconds of publication, ids that stay for 1500 seconds */
    public static function publications(): iterable
    {
        yield 'every minute' => [range(0, 3000, 60), range(25, 51)];
        yield 'once an hour' => [[0, 3600, 7200], [2, 3]];
        yield 'the one that was replaced a moment ago, after an hour' => [[0, 60, 3660, 3670], [2, 3, 4]];
        yield 'a clock that jumped by 40 days' => [[0, 60, 120, 3_456_000], [3, 4]];
        yield 'a clock that jumped and was set back' => [[0, 60, 3_456_000, 120, 180], [1, 2, 3, 4, 5]];
        yield 'some time after it was set back' => [[0, 60, 3_456_000, 120, 1600, 1640], [4, 5, 6]];
    }

    /**
     * @param list<int> $times
     * @param list<int> $kept
     */
    #[Test]
    #[DataProvider('publications')]
    public function a_generation_stays_for_its_time_after_the_next_one_was_published(
        array $times,
        array $kept,
    ): void {
        StoredObservations::in($this->database, [StoredObservations::observation()]);
        $ranking = new RankingPublisher($this->database);
        array_walk($times, static fn(int $time): Generation => $ranking->publishAt(self::NOON + $time));
        new Pruning($this->database)->prune(null, generationRetentionSeconds: 1500);

        self::assertSame(
            $kept,
            array_column($this->database->rows('SELECT id FROM generations ORDER BY id'), 'id'),
        );
    }

    #[Test]
    public function nothing_refers_to_a_generation_that_is_deleted(): void
    {
        StoredObservations::in($this->database, [StoredObservations::observation()]);
        $ranking = new RankingPublisher($this->database);
        foreach ([0, 60, 3600] as $time) {
            $ranking->publishAt(self::NOON + $time);
        }
        $this->database->execute(
            'INSERT INTO explored_ranks SELECT generation, region, window, category, rank FROM trending',
        );
        $this->database->execute('CREATE TABLE newer (generation INTEGER REFERENCES generations (id))');
        $this->database->execute('INSERT INTO newer SELECT id FROM generations');
        new Pruning($this->database)->prune(null, generationRetentionSeconds: 1500);

        self::assertSame([], $this->database->rows('PRAGMA foreign_key_check'));
        self::assertSame(
            [2, 3],
            array_column($this->database->rows('SELECT generation FROM newer'), 'generation'),
        );
        self::assertSame(1, $this->database->value('PRAGMA foreign_keys'), 'They are kept again.');
    }

    #[Test]
    public function the_default_is_as_long_as_an_answer_is_used_and_ten_minutes_of_reading(): void
    {
        $seconds = self::constants(Settings::projectRoot() . '/contract/lists.ts');

        self::assertCount(4, $seconds);
        self::assertGreaterThanOrEqual(
            array_sum($seconds) + 600,
            Settings::read([], null)->generationRetentionSeconds,
        );
    }

    /** @return list<int> how long a browser and a shared cache use an answer, fresh and stale */
    private static function constants(string $file): array
    {
        preg_match_all(
            '/^  (?:browserFresh|browserStale|fresh|stale): (\d+),/m',
            (string) file_get_contents($file),
            $found,
        );

        return array_map(intval(...), $found[1]);
    }
}
