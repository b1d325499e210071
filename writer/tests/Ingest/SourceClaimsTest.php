<?php

declare(strict_types=1);

namespace TrendVault\Writer\Tests\Ingest;

use Override;
use PHPUnit\Framework\Attributes\Test;
use PHPUnit\Framework\TestCase;
use Random\Randomizer;
use TrendVault\Writer\Database\Database;
use TrendVault\Writer\Database\RemovalKind;
use TrendVault\Writer\Database\Removals;
use TrendVault\Writer\Ingest\ObservationStore;
use TrendVault\Writer\Ingest\SourceIngestion;
use TrendVault\Writer\Observations\ObservationParser;
use TrendVault\Writer\Ranking\RankingPublisher;
use TrendVault\Writer\Retention\Pruning;
use TrendVault\Writer\Sources\SourceFailure;
use TrendVault\Writer\Tests\Support\Draws;
use TrendVault\Writer\Tests\Support\FixedClock;
use TrendVault\Writer\Tests\Support\MigratedDatabase;
use TrendVault\Writer\Tests\Support\TemporaryFolder;
use TrendVault\Writer\Time\Rfc3339;

final class SourceClaimsTest extends TestCase
{
    private const array DESCRIPTION = [
        'title' => 'T',
        'channel' => 'C',
        'thumb_base' => 'https://t.example/v',
    ];
    /** Videos whose lists do not show twice their only picture, or something where they have none. */
    private const string OTHER_THUMBS = <<<'SQL'
    SELECT id FROM videos LEFT JOIN details ON video_id = id
    WHERE (thumbs ->> 0) IS NOT (pictures ->> '$[0].url') OR (thumbs ->> 1) IS NOT (pictures ->> '$[0].url')
    SQL;

    private Database $database;
    private FixedClock $clock;
    private TemporaryFolder $folder;
    private Randomizer $random;

    #[Override]
    protected function setUp(): void
    {
        $this->database = MigratedDatabase::inMemory();
        $this->clock = new FixedClock();
        $this->folder = new TemporaryFolder();
        $this->random = Draws::randomizer();
    }

    #[Test]
    public function whatever_sources_say_in_turn_is_stored_as_a_plain_model_has_it(): void
    {
        for ($series = Draws::count(usual: 5, long: 200); $series > 0; $series--) {
            $this->database = MigratedDatabase::inMemory();
            $this->clock = new FixedClock();
            $plain = new PlainCatalogue();
            $log = '';
            for ($step = 0; $step < 30; $step++) {
                $this->clock->now += $this->random->getInt(60, 30 * 3600);
                $name = $this->pick([
                    ...PlainCatalogue::ORDER,
                    'spool:/other',
                    ObservationStore::BY_HAND,
                    'operator',
                ]);
                $lines = $name === 'operator' ? [] : $this->lines();
                $log .= "\n{$this->clock->now} $name " . json_encode($lines, JSON_UNESCAPED_SLASHES);
                if ($name === 'operator') {
                    $this->operate($plain);
                } else {
                    $this->ingest($name, $lines);
                    $plain->read($name, $lines, $this->clock->now);
                }
                self::assertSame($plain->stored(), $this->stored(), Draws::hint() . $log);
            }
        }
    }

    #[Test]
    public function a_line_ends_the_regions_of_its_own_source_only(): void
    {
        $this->ingest('spool:/a', [self::named('v', ['GB', 'IE']), self::named('w', ['GB'])]);
        $this->ingest('spool:/b', [self::named('v', ['FR', 'GB'])]);
        $this->ingest('spool:/a', [self::named('v', ['IE'])]);
        self::assertSame(['FR', 'GB', 'IE'], $this->regions('v'));
        $this->ingest('spool:/b', [self::named('v', ['FR'])]);
        self::assertSame(['FR', 'IE'], $this->regions('v'));

        new RankingPublisher($this->database)->publish($this->clock->now);
        self::assertSame(
            ['FR', 'IE'],
            $this->database->texts(
                "SELECT DISTINCT region FROM trending WHERE video_id = 'v' ORDER BY region",
            ),
        );
    }

    #[Test]
    public function the_source_that_comes_first_describes_a_video_until_it_is_silent(): void
    {
        $count = function (string $source, string $title, int $after): string {
            $this->clock->now += $after;
            $line = ['id' => 'v', 'region' => 'GB', 'views' => 10, ...self::DESCRIPTION, 'title' => $title];
            $line['observed_at'] = Rfc3339::format($this->clock->now);
            $this->ingest($source, [$line]);

            return (string) $this->database->text('SELECT title FROM videos');
        };
        self::assertSame('of b', $count('spool:/b', 'of b', 0));
        self::assertSame('of a', $count('spool:/a', 'of a', 60));
        self::assertSame('of a', $count('spool:/b', 'of b', 60));
        self::assertSame('of a', $count('spool:/b', 'of b', 47 * 3600));
        self::assertSame('by hand', $count(ObservationStore::BY_HAND, 'by hand', 60));
        self::assertSame('by hand', $count('spool:/b', 'of b', 48 * 3600));
        self::assertSame('of b', $count('spool:/b', 'of b', 1));
        self::assertSame('of b', $count('spool:/other', 'of another', 60));
        self::assertSame('of a', $count('spool:/a', 'of a', 60));
    }

    #[Test]
    public function the_next_source_describes_what_the_first_one_names_no_more(): void
    {
        $say = function (string $source, string $id): string {
            $this->ingest($source, [[...self::named($id, ['GB']), 'title' => "of $source"]]);

            return (string) $this->database->text("SELECT title FROM videos WHERE id = 'v'");
        };
        $say('spool:/a', 'v');
        $since = $this->clock->now++;
        $say('spool:/a', 'another');
        $pruning = new Pruning($this->database);

        $pruning->prune($since, 0);
        self::assertSame('of spool:/a', $say('spool:/b', 'v'));
        $pruning->prune($since + 1, 0);
        self::assertSame('of spool:/b', $say('spool:/b', 'v'));
        self::assertSame('of spool:/a', $say('spool:/a', 'v'));
    }

    #[Test]
    public function who_comes_first_and_counts_a_video_describes_it_again_after_it_left_its_catalogue(): void
    {
        $say = function (string $source, array $line): ?string {
            $this->ingest($source, [[...self::DESCRIPTION, 'id' => 'v', 'title' => "of $source", ...$line]]);

            return $this->database->text("SELECT title FROM videos WHERE id = 'v'");
        };
        $count = fn(): array => [
            'region' => 'GB',
            'views' => 10,
            'observed_at' => Rfc3339::format($this->clock->now),
        ];
        $say('spool:/a', ['regions' => ['GB']]);
        $since = $this->clock->now;
        $this->clock->now += 3600;
        $say('spool:/a', $count());

        new Pruning($this->database)->prune($since + 1, 0);
        $say('spool:/b', ['regions' => ['GB']]);
        $this->clock->now += 3600;
        self::assertSame('of spool:/a', $say('spool:/a', $count()));
        self::assertSame('of spool:/a', $say('spool:/b', ['regions' => ['GB']]));
    }

    #[Test]
    public function all_that_leaves_at_once_is_for_the_next_source_to_describe_whatever_its_regions(): void
    {
        $name = static fn(int $id): array => self::named("v$id", ['FR', 'GB']);
        $lines = [...array_map($name, range(1, 5100)), self::named('w', ['IE'])];
        $this->ingest('spool:/a', $lines);
        $this->clock->now++;
        $this->ingest('spool:/b', $lines);
        new Pruning($this->database)->prune($this->clock->now, 0);

        self::assertSame(5101, $this->database->number('SELECT count(*) FROM videos'));
        self::assertSame(0, $this->database->number('SELECT count(described_by) FROM videos'));
    }

    #[Test]
    public function regions_of_before_sources_were_told_apart_stay_until_a_source_names_them(): void
    {
        $this->ingest('spool:/a', [self::named('v', ['GB', 'IE'])]);
        $this->database->run('UPDATE catalogue SET source = 0, reading = 0');
        $this->database->run('UPDATE videos SET described_by = NULL');

        $this->ingest('spool:/b', [self::named('v', ['GB', 'FR'])]);
        self::assertSame(['FR', 'GB', 'IE'], $this->regions('v'));
        $this->ingest('spool:/b', [self::named('v', ['FR'])]);
        self::assertSame(['FR', 'IE'], $this->regions('v'));
    }

    #[Test]
    public function at_most_a_quarter_of_a_complete_catalogue_leaves_at_once_unless_it_is_allowed(): void
    {
        $named = static fn(int $count): array => array_map(
            static fn(int $number): array => self::named("v$number", ['GB', 'IE']),
            range(1, $count),
        );
        $this->ingest('spool:/b', [...$named(8), ['complete' => true]]);
        $this->ingest('spool:/a', $named(8));

        self::assertSame(2, $this->ingest('spool:/a', [...$named(6), ['complete' => true]])['left']);
        self::assertSame(6, $this->catalogueOf('spool:/a'));
        foreach ([[...$named(4), ['complete' => true]], [['complete' => true]]] as $half) {
            $refused = $this->ingest('spool:/a', $half);
            self::assertStringContainsString('--allow-leaving', (string) $refused['failure']?->getMessage());
            self::assertSame(6, $this->catalogueOf('spool:/a'));
        }
        $rejected = $this->ingest('spool:/a', [...$named(5), ['id' => '../v6'], ['complete' => true]]);
        self::assertStringContainsString(
            '1 lines of it were rejected',
            (string) $rejected['failure']?->getMessage(),
        );
        $joined = $this->ingest('spool:/a', [...$named(5), ['complete' => true], ...$named(1)]);
        self::assertStringContainsString(
            'line 6 says that it is complete, and lines follow',
            (string) $joined['failure']?->getMessage(),
        );
        $this->ingest('spool:/a', $named(1));
        self::assertSame(6, $this->catalogueOf('spool:/a'));
        $allowed = $this->ingest('spool:/a', [...$named(4), ['complete' => true]], allowLeaving: true);
        self::assertSame([2, null], [$allowed['left'], $allowed['failure']]);
        self::assertSame([4, 8], [$this->catalogueOf('spool:/a'), $this->catalogueOf('spool:/b')]);
    }

    #[Test]
    public function a_source_that_repeats_its_line_describes_again_when_the_one_that_took_over_is_silent(): void
    {
        $counted = fn(string $region, string $title): array => [
            ...['id' => 'v', 'region' => $region, 'views' => 10, 'title' => $title] + self::DESCRIPTION,
            'observed_at' => Rfc3339::format($this->clock->now),
        ];
        $this->ingest('spool:/b', [$counted('GB', 'Of b')]);
        $this->clock->now += 60;
        $this->ingest('spool:/a', [$counted('IE', 'Of a')]);
        $this->clock->now += 48 * 3600;
        $this->ingest('spool:/b', [$counted('GB', 'Of b')]);
        self::assertSame('Of a', $this->database->value('SELECT title FROM videos'));

        $this->clock->now += 60;
        $this->ingest('spool:/b', [$counted('GB', 'Of b')]);
        self::assertSame('Of b', $this->database->value('SELECT title FROM videos'));
    }

    #[Test]
    public function what_is_published_later_waits_where_nothing_was_counted(): void
    {
        $later = ['published_at' => Rfc3339::format($this->clock->now + 3600)];
        $counted = ['region' => 'IE', 'views' => 100, 'observed_at' => Rfc3339::format($this->clock->now)];
        $this->ingest('spool:/a', [
            [...self::named('v', ['GB', 'IE']), ...$later],
            ['id' => 'v', ...$counted],
            self::named('w', ['GB']),
        ]);
        $listed = fn(): array => $this->database->texts(
            "SELECT region || ' ' || video_id FROM trending WHERE generation = (SELECT max(id) FROM generations)
             AND window = 'day' AND category = '' ORDER BY 1",
        );

        new RankingPublisher($this->database)->publish($this->clock->now);
        self::assertSame(['GB w', 'IE v'], $listed());
        new RankingPublisher($this->database)->publish($this->clock->now + 3600);
        self::assertSame(['GB v', 'GB w', 'IE v'], $listed());
    }

    /** @return list<array<string, mixed>> */
    private function lines(): array
    {
        $lines = [];
        for ($left = $this->random->getInt(1, 6); $left > 0; $left--) {
            $id = $this->pick(['a', 'b', '7']);
            $lines[] = match ($this->random->getInt(0, 9)) {
                0 => [$this->pick([['id' => $id], ['channel' => 'C1']]), 'removed' => true, 'reason' => 'r'],
                1 => [$this->pick([['id' => $id], ['channel' => 'C1']]), 'removed' => false],
                2, 3, 4 => [
                    ['id' => $id, 'region' => $this->pick(['GB', 'IE'])],
                    'observed_at' => Rfc3339::format($this->clock->now - $this->random->getInt(0, 50)),
                    'views' => 10,
                    ...$this->description(),
                ],
                5 => [['complete' => true]],
                default => [
                    ['id' => $id],
                    'regions' => array_values(
                        array_filter(
                            ['GB', 'IE', 'FR', 'DE'],
                            fn(string $region): bool => $this->random->getInt(0, 1) === 1,
                        ),
                    ) ?: ['GB'],
                    ...$this->description(),
                ],
            };
        }

        return array_map(
            /** @param array<array-key, mixed> $line */
            static fn(array $line): array => [...$line[0], ...array_diff_key($line, [0])],
            $lines,
        );
    }

    /** @return array<string, mixed> */
    private function description(): array
    {
        return match ($this->random->getInt(0, 5)) {
            0 => [],
            1 => ['title' => $this->pick(['T1', 'T2']), 'category' => null],
            2 => [
                'unset' => $this->pick([['category'], ['url', 'licence'], ['titles'], ['pictures'], []]),
                'titles' => $this->pick([null, ['de' => 'D1'], ['de' => 'D2']]),
                'pictures' => $this->pick([
                    null,
                    [['url' => 'https://p.example/1', 'width' => 400, 'height' => 225]],
                    [['url' => 'https://p.example/2', 'width' => 40, 'height' => 22]],
                ]),
                'category' => $this->pick([null, 'K']),
            ],
            default => [
                ...self::DESCRIPTION,
                'title' => $this->pick(['T1', 'T2', 'T3']),
                'channel' => $this->pick(['C1', 'C2']),
                'licence' => $this->pick([null, null, 'L1', 'L2']),
                'url' => $this->pick([null, 'https://v.example/1', 'https://v.example/2']),
            ],
        };
    }

    private function operate(PlainCatalogue $plain): void
    {
        $id = $this->pick(['a', 'b']);
        if ($this->random->getInt(0, 1) === 1) {
            new Removals($this->database)->remove(RemovalKind::Video, $id, 'r', $this->clock->now);
            $plain->removals["video $id"] = ['operator'];
        } else {
            new Removals($this->database)->allow(RemovalKind::Video, $id);
            unset($plain->removals["video $id"]);
        }
    }

    /** @return array{videos: array<string, list<mixed>>, catalogue: list<string>, removals: array<string, list<string>>} */
    private function stored(): array
    {
        $videos = $removals = [];
        foreach (
            $this->database->rows(
                'SELECT v.id, title, channel, category, url, licence, titles, pictures, s.name AS source FROM videos AS v LEFT JOIN details ON video_id = v.id LEFT JOIN sources AS s ON s.id = described_by ORDER BY v.id',
            )
            as $row
        ) {
            $videos['#' . array_shift($row)] = array_values($row);
        }
        foreach (
            $this->database->rows(
                "SELECT kind || ' ' || r.name AS key, ifnull(s.name, 'operator') AS source
                 FROM removals AS r LEFT JOIN removal_claims USING (kind, name) LEFT JOIN sources AS s ON s.id = source ORDER BY 1, 2",
            )
            as $row
        ) {
            $removals[$row['key']][] = $row['source'];
        }

        self::assertSame([], $this->database->texts(self::OTHER_THUMBS), Draws::hint());

        return [
            'videos' => $videos,
            'catalogue' => $this->database->texts(
                "SELECT s.name || ' ' || video_id || ' ' || region FROM catalogue JOIN sources AS s ON s.id = source ORDER BY 1",
            ),
            'removals' => $removals,
        ];
    }

    /**
     * @template T
     * @param non-empty-list<T> $values
     * @return T
     */
    private function pick(array $values): mixed
    {
        return $values[$this->random->getInt(0, count($values) - 1)];
    }

    /**
     * @param list<string> $regions
     * @return array<string, mixed>
     */
    private static function named(string $id, array $regions): array
    {
        return ['id' => $id, 'regions' => $regions, ...self::DESCRIPTION];
    }

    /** @return list<string> */
    private function regions(string $id): array
    {
        return $this->database->texts(
            'SELECT DISTINCT region FROM catalogue WHERE video_id = ? ORDER BY region',
            [$id],
        );
    }

    private function catalogueOf(string $source): ?int
    {
        return $this->database->number(
            'SELECT count(DISTINCT video_id) FROM catalogue JOIN sources ON id = source WHERE name = ?',
            [$source],
        );
    }

    /**
     * @param list<array<string, mixed>> $lines
     * @return array{left: int, failure: ?SourceFailure, ...}
     */
    private function ingest(string $name, array $lines, bool $allowLeaving = false): array
    {
        $run = MigratedDatabase::beginRun($this->database);
        $parser = new ObservationParser(
            ['GB' => true, 'IE' => true, 'FR' => true, 'DE' => false],
            $this->clock->now,
        );
        $store = new ObservationStore(
            $this->database,
            $this->clock->now,
            PlainCatalogue::ORDER,
            $allowLeaving,
        );

        return new SourceIngestion($this->database, $run, $parser, $store, $this->folder->path)->ingest(
            new DrawnSource($lines),
            static fn(): null => null,
            $name,
        );
    }
}

/** The same rules, line by line and with everything in memory. */
final class PlainCatalogue
{
    public const array ORDER = ['spool:/a', 'spool:/b'];
    private const array FIELDS = ['title', 'channel', 'category', 'url', 'licence', 'titles', 'pictures'];

    /** @var array<string, list<string>> who took it down, by kind and name */
    public array $removals = [];
    /** @var array<string, array{fields: array<string, ?string>, by: ?string}> by id */
    private array $videos = [];
    /** @var array<string, array<string, list<string>>> regions by source and id */
    private array $catalogue = [];
    /** @var array<string, int> when each source was heard last */
    private array $heard = [];
    /** @var array<string, array{at: string, said: mixed}> by region and id */
    private array $counted = [];

    /** @param list<array<string, mixed>> $lines */
    public function read(string $source, array $lines, int $now): void
    {
        $this->heard[$source] = $now;
        $named = [];
        [$isComplete, $isWhole] = [isset($lines[array_key_last($lines)]['complete']), true];
        foreach ($lines as $line) {
            if (isset($line['removed'])) {
                $this->remove($source, $line);
            }
        }
        foreach ($lines as $line) {
            if (!isset($line['regions'])) {
                continue;
            }
            $regions = array_values(array_diff($line['regions'], ['DE']));
            if ($regions !== [] && !$this->describe($source, $line, $now)) {
                $isWhole = false;
                continue;
            }
            $this->catalogue[$source]["#{$line['id']}"] = $regions;
            $named["#{$line['id']}"] = true;
        }
        foreach ($lines as $line) {
            if (isset($line['views'])) {
                $isWhole = $this->count($source, $line, $now) && $isWhole;
            }
        }
        $this->catalogue[$source] = array_filter($this->catalogue[$source] ?? []);
        if ($isComplete && $isWhole) {
            $this->leave($source, $named);
        }
    }

    /** @return array{videos: array<string, list<mixed>>, catalogue: list<string>, removals: array<string, list<string>>} */
    public function stored(): array
    {
        $catalogue = [];
        foreach ($this->catalogue as $source => $videos) {
            foreach ($videos as $id => $regions) {
                foreach ($regions as $region) {
                    $catalogue[] = $source . ' ' . substr($id, 1) . " $region";
                }
            }
        }
        sort($catalogue, SORT_STRING);
        ksort($this->videos, SORT_STRING);
        ksort($this->removals, SORT_STRING);
        foreach ($this->removals as &$sources) {
            sort($sources, SORT_STRING);
        }

        return [
            'videos' => array_map(
                /** @param array{fields: array<string, ?string>, by: ?string} $video */
                static fn(array $video): array => [...array_values($video['fields']), $video['by']],
                $this->videos,
            ),
            'catalogue' => $catalogue,
            'removals' => $this->removals,
        ];
    }

    /** @param array<string, mixed> $line */
    private function remove(string $source, array $line): void
    {
        $key = isset($line['id']) ? "video {$line['id']}" : "channel {$line['channel']}";
        $by = $this->removals[$key] ?? [];
        if ($by === ['operator']) {
            return;
        }
        $by = array_values(array_diff($by, [$source]));
        $this->removals[$key] = $line['removed'] ? [...$by, $source] : $by;
        $this->removals = array_filter($this->removals);
    }

    /**
     * @param array<string, mixed> $line
     * @return bool false when the video is new and not described
     */
    private function describe(string $source, array $line, int $now): bool
    {
        $video = $this->videos["#{$line['id']}"] ?? null;
        if ($video !== null && !$this->goesBefore($source, $video['by'], $now)) {
            return true;
        }
        $fields = $video['fields'] ?? array_fill_keys(self::FIELDS, null);
        $says = ($line['unset'] ?? []) !== [] || isset($line['thumb_base']);
        foreach (self::FIELDS as $name) {
            $isTakenBack = in_array($name, $line['unset'] ?? [], true);
            $says = $says || isset($line[$name]);
            $said = is_array($line[$name] ?? null)
                ? json_encode($line[$name], JSON_UNESCAPED_SLASHES)
                : $line[$name] ?? null;
            $fields[$name] = $said ?? ($isTakenBack ? null : $fields[$name]);
        }
        if ($fields['title'] === null || $fields['channel'] === null) {
            return false;
        }
        if ($says && isset($video['by']) && $video['by'] !== $source) {
            $this->compareAgain($line['id']);
        }
        $this->videos["#{$line['id']}"] = [
            'fields' => $fields,
            'by' => $says ? $source : $video['by'] ?? null,
        ];

        return true;
    }

    /**
     * @param array<string, mixed> $line
     * @return bool false when the video is new and not described
     */
    private function count(string $source, array $line, int $now): bool
    {
        $key = "{$line['region']} {$line['id']}";
        $before = $this->counted[$key] ?? null;
        if ($before !== null && $line['observed_at'] <= $before['at']) {
            return true;
        }
        $said = [$source, array_filter(array_diff_key($line, ['views' => 0, 'observed_at' => 0]))];
        if ($said !== ($before['said'] ?? null) && !$this->describe($source, $line, $now)) {
            return false;
        }
        $by = $this->videos["#{$line['id']}"]['by'];
        $saysNothing = count($said[1]) === 2; // id and region
        // Who says the same as before changes nothing, unless another source's word was taken.
        $this->counted[$key] = [
            'at' => $line['observed_at'],
            'said' => $said === ($before['said'] ?? null) || $by === $source || $saysNothing ? $said : null,
        ];

        return true;
    }

    private function compareAgain(string $id): void
    {
        foreach ($this->counted as $key => $counted) {
            if (substr($key, 3) === $id) {
                $this->counted[$key] = ['at' => $counted['at'], 'said' => null];
            }
        }
    }

    private function goesBefore(string $source, ?string $other, int $now): bool
    {
        $place = static fn(string $name): int => match ($name) {
            ObservationStore::BY_HAND => 0,
            'spool:/a' => 1,
            'spool:/b' => 2,
            default => 3,
        };

        return $other === null ||
            $other === $source ||
            $place($source) < $place($other) ||
            $this->heard[$other] < $now - 48 * 3600;
    }

    /** @param array<string, true> $named by id */
    private function leave(string $source, array $named): void
    {
        $known = $this->catalogue[$source];
        $left = array_diff_key($known, $named);
        if (count($left) === count($known) || count($left) > max(1, count($known) / 4)) {
            return;
        }
        $this->catalogue[$source] = array_intersect_key($known, $named);
        foreach (array_keys($left) as $id) {
            if ($this->videos[$id]['by'] === $source) {
                $this->videos[$id]['by'] = null;
            }
        }
    }
}
