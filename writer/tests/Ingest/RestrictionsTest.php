<?php

declare(strict_types=1);

namespace TrendVault\Writer\Tests\Ingest;

use Override;
use PHPUnit\Framework\Attributes\DataProvider;
use PHPUnit\Framework\Attributes\Test;
use PHPUnit\Framework\TestCase;
use Random\Randomizer;
use TrendVault\Writer\Database\Database;
use TrendVault\Writer\Editorial\Editorial;
use TrendVault\Writer\Ingest\ObservationStore;
use TrendVault\Writer\Ingest\SourceIngestion;
use TrendVault\Writer\Observations\ObservationParser;
use TrendVault\Writer\Observations\Restrictions;
use TrendVault\Writer\Ranking\RankingPublisher;
use TrendVault\Writer\Retention\Pruning;
use TrendVault\Writer\Tests\Support\Draws;
use TrendVault\Writer\Tests\Support\FixedClock;
use TrendVault\Writer\Tests\Support\MigratedDatabase;
use TrendVault\Writer\Tests\Support\TemporaryFolder;
use TrendVault\Writer\Time\Rfc3339;

final class RestrictionsTest extends TestCase
{
    private const array SOURCES = ['spool:/a', 'spool:/b', ObservationStore::BY_HAND];
    private const array IDS = ['7', 'a', 'b'];
    private const array BAD = [
        'mature' => ['yes', 1, []],
        'made_for_kids' => ['no', 0, ['true']],
        'available_from' => ['tomorrow', 20, '2026-11-20', true],
        'available_until' => ['never', '1969-12-31T23:59:59Z', ['2026-11-20T10:00:00Z']],
        'countries' => [
            'DE',
            ['DE'],
            [],
            ['allowed' => 'DE'],
            ['allowed' => ['de']],
            ['excluded' => ['DE', 'GBR']],
            ['allowed' => ['DE'], 'excluded' => ['GB']],
            ['denied' => ['DE']],
        ],
    ];

    private Database $database;
    private FixedClock $clock;
    private TemporaryFolder $folder;
    private Randomizer $random;

    #[Override]
    protected function setUp(): void
    {
        $this->folder = new TemporaryFolder();
        $this->random = Draws::randomizer();
        $this->begin();
    }

    private function begin(): void
    {
        $this->database = MigratedDatabase::inMemory();
        $this->clock = new FixedClock();
    }

    #[Test]
    public function a_video_is_in_the_lists_that_no_source_keeps_it_out_of_but_by_what_editors_lifted(): void
    {
        for ($series = Draws::count(usual: 20, long: 1000); $series > 0; $series--) {
            $this->begin();
            [$said, $log, $lifts] = [array_fill_keys(self::IDS, []), '', []];
            for ($step = 0; $step < 20; $step++) {
                $this->clock->now += $this->random->getInt(1, 400);
                $source = $this->pick(self::SOURCES);
                $id = $this->pick(self::IDS);
                $fields = $this->fields();
                $unset = array_values(
                    array_filter(
                        ObservationParser::RESTRICTING,
                        fn(): bool => $this->random->getInt(0, 3) === 0,
                    ),
                );
                $line = [...$this->line($id), ...$fields, 'unset' => $unset];
                $log .= "\n{$this->clock->now} $source " . json_encode($line, JSON_UNESCAPED_SLASHES);
                $before = $said[$id][$source] ?? [];
                $said[$id][$source] = [
                    ...array_diff_key($before, array_flip($unset)),
                    ...array_filter(
                        $fields,
                        static fn(mixed $value): bool => $value !== null && $value !== '',
                    ),
                ];
                $result = $this->ingest($source, [$line]);
                self::assertSame([], $result['rejections'], $log);
                if ($this->random->getInt(0, 2) === 0) {
                    $key = ['video' => $id, 'field' => $this->pick(ObservationParser::RESTRICTING)];
                    $until = Rfc3339::format($this->clock->now + $this->random->getInt(1, 2000));
                    $lifts["$id {$key['field']}"] = $this->pick([null, $key, [...$key, 'until' => $until]]);
                }
                $lifted = $this->lift($lifts);
                $log .= "\nlifted " . json_encode($lifted);
                $message = Draws::hint() . $log;
                foreach (['DE', 'GB'] as $region) {
                    foreach ([...$this->ends(), $this->clock->now] as $now) {
                        $allowed = self::allowed($said, $region, $now, $lifted);
                        self::assertSame(
                            $allowed,
                            $this->mayBeListed($region, $now),
                            "$region at $now, $message",
                        );
                    }
                }
                self::assertSame(
                    array_values(
                        array_filter(
                            self::IDS,
                            static fn(string $id): bool => !isset($lifted["#$id"]['made_for_kids']) &&
                                in_array(true, array_column($said[$id], 'made_for_kids'), true),
                        ),
                    ),
                    $this->database->texts('SELECT id FROM videos WHERE made_for_kids = 1 ORDER BY id'),
                    $message,
                );
            }
            new RankingPublisher($this->database)->publish($this->clock->now);
            foreach (['DE', 'GB'] as $region) {
                self::assertSame(
                    self::allowed($said, $region, $this->clock->now, $lifted),
                    $this->listed($region),
                    $message,
                );
            }
        }
    }

    /**
     * @param array<array-key, array<string, array<string, mixed>>> $said by id, source and field
     * @param array<string, array<string, int>> $lifted by "#" and id, and field: until when
     * @return list<string> the ids that may be listed, in order
     */
    private static function allowed(array $said, string $country, int $now, array $lifted): array
    {
        $isAllowed = static fn(string $id): bool => $said[$id] !== [] &&
            array_all(
                $said[$id],
                static fn(array $fields): bool => self::allows(
                    array_diff_key($fields, $lifted["#$id"] ?? []),
                    $country,
                    $now,
                ) &&
                    array_all(
                        $lifted["#$id"] ?? [],
                        static fn(int $until, string $field): bool => $now < $until ||
                            // Of the other regions, too, until the writer says which.
                            ($field === 'countries'
                                ? in_array($fields[$field] ?? false, [false, ['excluded' => []]], true)
                                : self::allows(
                                    array_intersect_key($fields, [$field => true]),
                                    $country,
                                    $field === 'available_from' ? $until : $now,
                                )),
                    ),
            );

        return array_values(array_filter(self::IDS, $isAllowed));
    }

    /**
     * As a run does with what editors say.
     *
     * @param array<string, ?array<string, string>> $lifts
     * @return array<string, array<string, int>> what is in force
     */
    private function lift(array $lifts): array
    {
        $entries = array_map(
            static fn(array $lift): array => [...$lift, 'reason' => 'seen'],
            array_values(array_filter($lifts)),
        );
        $text = json_encode(['lifted' => $entries], JSON_THROW_ON_ERROR);
        $lifted = Editorial::read($text, null, $this->clock->now)->liftedAt($this->clock->now);
        new Restrictions($this->database)->lift($lifted, $this->clock->now);

        return array_map(
            static fn(array $fields): array => array_map(
                static fn(?int $until): int => $until ?? PHP_INT_MAX,
                $fields,
            ),
            $lifted,
        );
    }

    /** @return list<string> */
    private function mayBeListed(string $country, int $now): array
    {
        $ids = [];
        foreach (
            $this->database->rows('SELECT id, ' . Restrictions::COLUMNS . ' FROM videos AS v ORDER BY id')
            as $row
        ) {
            /** @var array{id: string, held_because: ?string, available_from: ?int, available_until: ?int, countries: ?string} $row */
            if (Restrictions::reason($row, $country, $now) === null) {
                $ids[] = $row['id'];
            }
        }

        return $ids;
    }

    /** @return list<int> the times at which something begins or ends, and the seconds beside them */
    private function ends(): array
    {
        return $this->database->integers(
            <<<'SQL'
            SELECT at + value FROM (SELECT available_from AS at FROM videos UNION SELECT available_until FROM videos)
            JOIN json_each('[-1, 0, 1]') WHERE at IS NOT NULL
            SQL
            ,
        );
    }

    /** @return iterable<string, array{string, mixed}> */
    public static function badValues(): iterable
    {
        foreach (self::BAD as $field => $values) {
            foreach ($values as $value) {
                yield "$field: " . json_encode($value) => [$field, $value];
            }
        }
    }

    #[Test]
    #[DataProvider('badValues')]
    public function a_bad_value_holds_the_video_back_until_its_source_corrects_it(
        string $field,
        mixed $value,
    ): void {
        $line = ['id' => 'a', 'region' => 'GB', 'views' => 10, ...self::described()];
        $result = $this->ingest('spool:/a', [[...$line, ...$this->at(0), $field => $value]]);
        self::assertSame(
            [['accepted' => 1], [], [$field => 1]],
            [$result['counts'], $result['rejections'], $result['held']],
        );
        self::assertSame("bad $field", $this->database->text('SELECT held_because FROM videos'));

        $this->ingest('spool:/b', [[...$line, ...$this->at(60), 'unset' => [$field]]]);
        self::assertSame("bad $field", $this->database->text('SELECT held_because FROM videos'));
        $this->ingest('spool:/a', [[...$line, ...$this->at(120)]]);
        self::assertSame("bad $field", $this->database->text('SELECT held_because FROM videos'));
        $this->ingest('spool:/a', [[...$line, ...$this->at(120), 'unset' => [$field]]]);
        self::assertNull($this->database->text('SELECT held_because FROM videos'));
    }

    #[Test]
    public function the_newest_line_of_each_source_counts_in_whatever_order_they_come(): void
    {
        $random = Draws::randomizer();
        for ($series = Draws::count(usual: 150, long: 2000); $series > 0; $series--) {
            $this->database = MigratedDatabase::inMemory();
            $this->begin();
            $this->ingest('spool:/c', [[...$this->counted(), ...$this->at(1)]]);
            [$newest, $log] = [[], '']; // time and `mature`, by source
            for ($step = 0; $step < 5; $step++) {
                [$source, $lines] = [$this->pick(['spool:/a', 'spool:/b']), []];
                for ($count = $random->getInt(1, 8); $count > 0; $count--) {
                    $at = $random->getInt(-9, 9);
                    $fields = $this->pick([
                        ...[['mature' => true], ['mature' => false], ['mature' => 'yes'], []],
                        ['unset' => ['mature']],
                    ]);
                    $mature = $fields['mature'] ?? false;
                    $log .= "\n$source at $at: " . json_encode($fields);
                    $line = [...$this->counted(), 'region' => $this->pick(['DE', 'GB']), ...$this->at($at)];
                    $lines[] = [...$line, ...$fields];
                    [$last, $said] = $newest[$source] ?? [-10, null];
                    if ($fields !== [] && $at >= $last) {
                        // Of two lines of one time either one counts.
                        $newest[$source] = [$at, $at === $last && $said !== $mature ? null : $mature];
                    }
                }
                $this->ingest($source, $lines);
                $said = array_column($newest, 1);
                if (!in_array(null, $said, true)) {
                    self::assertSame(
                        array_any($said, static fn(mixed $mature): bool => $mature !== false),
                        $this->database->text('SELECT held_because FROM videos') !== null,
                        Draws::hint() . $log,
                    );
                }
            }
        }
    }

    #[Test]
    public function it_is_live_as_sources_say_until_the_end_or_until_none_has_said_so_for_long(): void
    {
        for ($series = Draws::count(usual: 8, long: 1000); $series > 0; $series--) {
            $this->begin();
            [$said, $log] = [[], '']; // state, time and end, by source
            for ($step = 0; $step < 15; $step++) {
                $this->clock->now += $this->random->getInt(1, 8000);
                $source = $this->pick(self::SOURCES);
                $live = $this->pick([null, false, true, 'soon', 'now', 'now', 'scheduled', 'recorded']);
                $end = $this->pick([
                    null,
                    null,
                    null,
                    'never',
                    $this->clock->now + $this->pick([-60, 60, 9000]),
                ]);
                $until = is_int($end) ? Rfc3339::format($end) : $end;
                $line = [...$this->line('a'), 'live' => $live, 'live_until' => $until];
                $log .= "\n{$this->clock->now} $source " . json_encode([$live, $until]);
                $result = $this->ingest($source, [$line]);
                self::assertSame([], $result['rejections'], $log);
                self::assertSame(
                    array_filter([
                        'live' => (int) in_array($live, [true, 'soon'], true),
                        'live_until' => (int) ($end === 'never'),
                    ]),
                    $result['held'],
                    $log,
                );
                $before = $said[$source] ?? ['live' => null, 'at' => 0, 'end' => null];
                ['live' => $state, 'at' => $at, 'end' => $last] = $before;
                $last = is_int($end) ? $end : $last;
                if ($live === false) {
                    $state = null;
                } elseif (in_array($live, ['now', 'scheduled', 'recorded'], true)) {
                    [$state, $at] = [$live, $this->clock->now];
                    $last = !is_int($end) && $last <= $at ? null : $last;
                }
                $said[$source] = ['live' => $state, 'at' => $at, 'end' => $last];
                if ($said[$source] !== $before) {
                    $expected = self::stateOf($said, $this->clock->now);
                    self::assertSame($expected, $this->live(), Draws::hint() . $log);
                }
            }
            self::assertNull($this->database->text('SELECT held_because FROM videos'));
        }
    }

    /**
     * @param array<string, array{live: ?string, at: int, end: ?int}> $said by source
     * @return array{?string, ?int}
     */
    private static function stateOf(array $said, int $now): array
    {
        foreach (['now' => 3, 'scheduled' => 48] as $state => $hours) {
            $ends = [];
            foreach ($said as ['live' => $live, 'at' => $at, 'end' => $end]) {
                $ends[] = $live === $state ? $end ?? $at + $hours * 3600 : 0;
            }
            if (max($ends) > $now) {
                return [$state, max($ends)];
            }
        }

        return [in_array('recorded', array_column($said, 'live'), true) ? 'recorded' : null, null];
    }

    /** @return array{?string, ?int} */
    private function live(): array
    {
        return array_values((array) $this->database->row('SELECT live, live_until FROM videos'));
    }

    #[Test]
    public function counts_that_say_it_is_live_keep_it_live(): void
    {
        foreach ([0, 3600, 9000] as $seconds) {
            $this->clock->now += $seconds;
            $line = [...$this->counted(), ...$this->at(0), 'views' => 10 + $seconds, 'live' => 'now'];
            $this->ingest('spool:/a', [$line]);
            self::assertSame(['now', $this->clock->now + 3 * 3600], $this->live());
        }
        $this->clock->now += 60;
        $this->ingest('spool:/b', [[...$this->counted(), ...$this->at(0), 'unset' => ['live']]]);
        self::assertSame('now', $this->live()[0]);
        $this->ingest('spool:/a', [
            [...$this->counted(), ...$this->at(0), 'views' => 99_999, 'unset' => ['live']],
        ]);
        self::assertSame([null, null], $this->live());
    }

    #[Test]
    public function a_fraction_of_a_second_neither_lets_a_video_appear_early_nor_stay_long(): void
    {
        $second = '2026-11-20T10:00:00';
        $this->ingest('spool:/a', [
            [...$this->line('a'), 'available_from' => "$second.250Z", 'available_until' => "$second.750Z"],
            [...$this->line('b'), 'available_from' => "$second.000Z"],
        ]);
        $time = Rfc3339::parse("{$second}Z");
        self::assertSame(
            [[$time + 1, $time], [$time, null]],
            array_map(
                array_values(...),
                $this->database->rows('SELECT available_from, available_until FROM videos ORDER BY id'),
            ),
        );
    }

    #[Test]
    public function a_source_that_restricts_something_is_remembered_for_as_long_as_the_video(): void
    {
        $this->ingest('spool:/a', [[...$this->line('a'), 'mature' => true]]);
        $this->ingest('spool:/b', [$this->line('a'), $this->line('b')]);
        $this->ingest('spool:/c', [
            [...$this->line('a'), 'mature' => true],
            [...$this->line('a'), 'unset' => ['mature']],
        ]);
        $later = $this->clock->now + 1;
        new Pruning($this->database)->prune($later, 0);
        self::assertSame(['spool:/a'], $this->database->texts('SELECT name FROM sources'));
        new Pruning($this->database)->prune($later, 0);
        self::assertSame(
            [0, []],
            [
                $this->database->number('SELECT count(*) FROM restrictions'),
                $this->database->texts('SELECT name FROM sources'),
            ],
        );
    }

    /** @param array<string, mixed> $said */
    private static function allows(array $said, string $country, int $now): bool
    {
        foreach ($said as $field => $value) {
            if (in_array($value, self::BAD[$field], true)) {
                return false;
            }
        }
        /** @var array{allowed?: list<string>, excluded?: list<string>} $countries */
        $countries = $said['countries'] ?? [];
        $from = Rfc3339::parse((string) ($said['available_from'] ?? '1970-01-01T00:00:00Z'));
        $until = Rfc3339::parse((string) ($said['available_until'] ?? '9999-12-31T00:00:00Z'));

        return ($said['mature'] ?? false) === false &&
            $from <= $now &&
            $now < $until &&
            in_array($country, $countries['allowed'] ?? [$country], true) &&
            !in_array($country, $countries['excluded'] ?? [], true);
    }

    /** @return array<string, mixed> */
    private function fields(): array
    {
        $seconds = fn(int $sign): int => $this->pick([0, 1, 2, $sign * $this->random->getInt(-2000, 400)]);
        $time = fn(string $field): string => Rfc3339::format(
            $this->clock->now + $seconds($field === 'available_until' ? -1 : 1),
        );
        $countries = fn(): array => array_values(
            array_filter(['AT', 'DE', 'GB'], fn(): bool => $this->random->getInt(0, 2) > 0),
        );
        $fields = [];
        foreach (ObservationParser::RESTRICTING as $field) {
            $fields[$field] = match ($this->random->getInt(0, 29)) {
                0 => $this->pick(self::BAD[$field]),
                1, 2, 3, 4, 5, 6, 7 => match ($field) {
                    'mature', 'made_for_kids' => $this->pick([true, false, false]),
                    'countries' => $this->pick([['allowed' => $countries()], ['excluded' => $countries()]]),
                    default => $time($field),
                },
                default => $this->pick([null, '']),
            };
        }

        return $fields;
    }

    /** @return array<string, mixed> of a catalogue, or of a count: the video is in both regions in the end */
    private function line(string $id): array
    {
        return ['id' => $id, 'regions' => ['DE', 'GB'], ...self::described()];
    }

    /** @return array<string, string> */
    private static function described(): array
    {
        return ['title' => 'T', 'channel' => 'C', 'thumb_base' => 'https://t.example/v'];
    }

    /** @return array<string, mixed> */
    private function counted(): array
    {
        return ['id' => 'a', 'region' => 'GB', 'views' => 10, ...self::described()];
    }

    /** @return array{observed_at: string} */
    private function at(int $seconds): array
    {
        return ['observed_at' => Rfc3339::format($this->clock->now + $seconds)];
    }

    /** @return list<string> the ids of a list, in order */
    private function listed(string $region): array
    {
        return $this->database->texts(
            "SELECT video_id FROM trending WHERE generation = (SELECT max(id) FROM generations)
             AND region = ? AND window = 'day' AND category = '' ORDER BY video_id",
            [$region],
        );
    }

    /**
     * @param list<array<string, mixed>> $lines
     * @return array{counts: array<string, int>, rejections: array<string, int>, held: array<string, int>, ...}
     */
    private function ingest(string $name, array $lines): array
    {
        $run = MigratedDatabase::beginRun($this->database);
        $parser = new ObservationParser(['DE' => true, 'GB' => true], $this->clock->now);
        $store = new ObservationStore($this->database, $this->clock->now, self::SOURCES);

        return new SourceIngestion($this->database, $run, $parser, $store, $this->folder->path)->ingest(
            new DrawnSource($lines),
            static fn(): null => null,
            $name,
        );
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
}
