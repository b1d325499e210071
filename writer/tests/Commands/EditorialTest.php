<?php

declare(strict_types=1);

namespace TrendVault\Writer\Tests\Commands;

use DateTimeImmutable;
use Normalizer;
use Override;
use PHPUnit\Framework\Attributes\DataProvider;
use PHPUnit\Framework\Attributes\Test;
use PHPUnit\Framework\Attributes\TestWith;
use PHPUnit\Framework\TestCase;
use Psr\Clock\ClockInterface;
use Psr\Log\NullLogger;
use Random\Randomizer;
use Symfony\Component\Console\Input\StringInput;
use Symfony\Component\Console\Output\BufferedOutput;
use TrendVault\Writer\Application;
use TrendVault\Writer\Commands\SourceKinds;
use TrendVault\Writer\Database\Database;
use TrendVault\Writer\Editorial\Editorial;
use TrendVault\Writer\Editorial\EditorialFile;
use TrendVault\Writer\Editorial\EditorialStore;
use TrendVault\Writer\Editorial\Rules;
use TrendVault\Writer\ExitCode;
use TrendVault\Writer\Ingest\ObservationStore;
use TrendVault\Writer\Observations\Announcement;
use TrendVault\Writer\Ranking\RankingPublisher;
use TrendVault\Writer\Tests\Support\Draws;
use TrendVault\Writer\Tests\Support\FixedClock;
use TrendVault\Writer\Tests\Support\Installation;
use TrendVault\Writer\Tests\Support\MigratedDatabase;
use TrendVault\Writer\Tests\Support\NdjsonLine;
use TrendVault\Writer\Tests\Support\StoredObservations;
use TrendVault\Writer\Time\Rfc3339;

final class EditorialTest extends TestCase
{
    private const string LIST = <<<'SQL'
    SELECT video_id, placed FROM trending
    WHERE window = 'day' AND category = '' AND generation = (SELECT max(id) FROM generations) ORDER BY rank
    SQL;

    private const string LIST_OF_GB = <<<'SQL'
    SELECT 1 FROM trending WHERE generation = (SELECT max(id) FROM generations) AND region = 'GB'
    SQL;

    /** Words, what may be glued to them, and how they may stand in a title. */
    private const array WORDS = [
        'sorteo' => ['s', ['sorteo', 'SORTEO', 'Sortéo', 'ＳＯＲＴＥＯ']],
        'çekiliş' => ['i', ['çekiliş', 'ÇEKİLİŞ', 'cekilis', 'ÇEKILIŞ', 'çekılış']],
        'straße' => ['n', ['straße', 'STRASSE', 'Strasse', 'STRAẞE']],
        'œuvre' => ['s', ['œuvre', 'Oeuvre', 'ŒUVRE']],
        'łódź' => ['a', ['łódź', 'LODZ', 'Łódź']],
        'øl' => ['et', ['øl', 'ØL', 'ol']],
        'розыгрыш' => ['и', ['розыгрыш', 'РОЗЫГРЫШ', "ро\u{301}зыгрыш"]],
        'ещё' => ['а', ['ещё', 'еще', 'ЕЩЁ']],
        'δωρεάν' => ['α', ['δωρεάν', 'ΔΩΡΕΑΝ', 'δωρεαν']],
        'λόγος' => ['α', ['λόγος', 'ΛΟΓΟΣ']],
        'مجانا' => ['ه', ['مجانا', 'مجاناً', 'مـجانا']],
        'חינם' => ['ה', ['חינם', 'חִינָם']],
        'मुफ़्त' => ['ी', ['मुफ़्त']],
        '무료' => ['는', ['무료']],
        '無料' => ['', ['無料', '本日無料です']],
        'ガチャ' => ['', ['ガチャ', 'ｶﾞﾁｬ', '新ガチャ回']],
        'ฟรี' => ['', ['ฟรี', 'แจกฟรีวันนี้']],
        'free money' => ['s', ['free money', 'FREE   Money', 'free-money', 'Free! Money', 'frée “money”']],
        'iphone 17' => ['x', ['iphone 17', 'iPhone 17']],
    ];

    private Installation $installation;
    private string $file;

    #[Override]
    protected function setUp(): void
    {
        $this->installation = Installation::migrated();
        $this->file = "{$this->installation->folder->path}/editorial.json";
        $this->installation->environment['EDITORIAL_FILE'] = $this->file;
        file_put_contents($this->file, '{}');
        $lines = array_map(
            static fn(string $id, int $views): array => [
                'id' => $id,
                'channel' => 'One & Co',
                'views' => $views,
                'observed_at' => NdjsonLine::ago(60),
            ],
            ['a', 'b', 'c', 'd', 'e'],
            [9000, 8000, 7000, 6000, 5000],
        );
        $this->installation->run(['ingest', '-'], NdjsonLine::many($lines));
    }

    #[Test]
    public function the_file_stays_in_force_when_the_clock_is_set_back_to_a_time_when_two_of_its_pins_meet(): void
    {
        $pin = static fn(string $video, string $until): array => [
            'video' => $video,
            'region' => 'GB',
            'window' => 'day',
            'rank' => 1,
            'until' => $until,
            'reason' => 'Election night',
        ];
        $pins = [$pin('b', '2026-11-20T10:00:00Z'), $pin('c', '2026-11-20T12:00:00Z')];
        file_put_contents($this->file, json_encode(['pins' => $pins], JSON_THROW_ON_ERROR));
        $store = new EditorialStore(Database::openForWriting($this->installation->database));

        $between = (int) Rfc3339::parse('2026-11-20T11:00:00Z');
        self::assertNull($store->refresh(new EditorialFile($this->file, ['GB']), $between));

        self::assertCount(2, $store->inForce()->pinsAt($between - 7200));
    }

    #[Test]
    public function a_pinned_video_is_at_its_rank_and_all_others_keep_their_order_until_the_pin_ends(): void
    {
        $until = Rfc3339::format(time() + 3600);
        self::assertSame(['a', 'b', 'c', 'd', 'e'], $this->list());
        $this->pin('e', '--rank', '2', '--until', $until, '--by', 'Ana');
        $this->pin('c', '--rank', '1', '--until', $until, '--sponsor', 'A brand');

        self::assertSame(['c', 'e', 'a', 'b', 'd'], $this->list());
        self::assertSame(
            [
                '{"placed_by":"sponsor","sponsor":{"name":"A brand","paid_by":"A brand"},"model_rank":3}',
                '{"placed_by":"editor","model_rank":5}',
                null,
                null,
                null,
            ],
            array_column($this->installation->rows(self::LIST), 'placed'),
        );
        self::assertStringContainsString(
            'placed: {"placed_by":"editor","model_rank":5}',
            $this->installation->run(['explain', 'GB', 'e'])->output,
        );
        $said = $this->installation->run(['editorial'])->output;
        self::assertStringContainsString(
            "pinned   video e at rank 2 of GB day, until $until: Election night (Ana)\n",
            $said,
        );
        self::assertStringContainsString(', sponsored by A brand, paid by A brand: Election night', $said);

        self::assertSame(
            ExitCode::Ok,
            $this->writer('pin', 'e', '--region', 'GB', '--window', 'day', '--end'),
        );
        self::assertSame(['c', 'a', 'b', 'd', 'e'], $this->list());
        self::assertSame(
            ExitCode::Usage,
            $this->writer('pin', 'e', '--region', 'GB', '--window', 'day', '--end'),
        );
        $before = file_get_contents($this->file);
        $wrong = $this->installation->run(['pin', 'a', '--region', 'GB', '--rank', '51', '--until', 'later']);
        self::assertStringContainsString(
            "it would be wrong:\n--rank: expected a whole number from 1 to 50\n--until: ",
            $wrong->message(),
        );
        self::assertSame($before, file_get_contents($this->file));
    }

    #[Test]
    public function what_each_pin_brought_is_told_beside_what_the_order_of_scores_would_have(): void
    {
        $until = Rfc3339::format(time() + 3600);
        $this->pin('e', '--rank', '2', '--until', $until);
        $this->pin('d', '--rank', '1', '--until', $until);
        $this->list();
        $database = Database::openForWriting($this->installation->database);
        $count = 'UPDATE placed_ranks SET impressions = ?, clicks = ?, model_clicks = ? WHERE video_id = ?';
        $database->run($count, [300, 12, 9.4, 'e']);
        $database->run($count, [2000, 50, 0, 'd']);
        $said = $this->installation->run(['editorial'])->output;

        $known = ' — got 12 clicks of 300 impressions; in the order of scores 9 are expected';
        self::assertMatchesRegularExpression("/^pinned   video e .*$known$/m", $said);
        self::assertMatchesRegularExpression(
            '/^pinned   video d .* — got 50 clicks of 2,000 impressions$/m',
            $said,
        );
        self::assertStringContainsString('All placed videos — got 62 clicks of 2,300 impressions', $said);
    }

    #[Test]
    public function a_pin_that_is_over_places_nothing(): void
    {
        $pin = [
            'video' => 'e',
            'region' => 'GB',
            'window' => 'day',
            'rank' => 1,
            'reason' => 'Election night',
        ];
        $pins = [[...$pin, 'until' => Rfc3339::format(time() - 1)]];
        file_put_contents($this->file, json_encode(['pins' => $pins], JSON_THROW_ON_ERROR));

        self::assertSame(['a', 'b', 'c', 'd', 'e'], $this->list());
        self::assertStringContainsString(' — over', $this->installation->run(['editorial'])->output);
    }

    #[Test]
    #[
        TestWith([
            'unknown',
            'GB',
            '2099-01-01T00:00:00Z',
            'video: expected one that is stored; unknown is not',
        ]),
    ]
    #[
        TestWith([
            'd',
            'GB',
            '2099-01-01T00:00:00Z',
            'video: expected one that is shown; d is removed: a court order',
        ]),
    ]
    #[TestWith(['e', 'FR', '2099-01-01T00:00:00Z', '--region: expected one of which this writer has lists'])]
    #[TestWith(['e', 'GB', '2020-01-01T00:00:00Z', '--until: expected a time to come'])]
    public function a_pin_that_would_never_be_shown_is_refused_by_the_name_of_its_option(
        string $video,
        string $region,
        string $until,
        string $expected,
    ): void {
        $this->writer('remove', 'd', '--reason', 'a court order');
        $this->list();
        $before = file_get_contents($this->file);
        $words = [
            'pin',
            $video,
            '--region',
            $region,
            '--window',
            'day',
            '--until',
            $until,
            '--reason',
            'why',
        ];
        $refused = $this->installation->run($words);

        self::assertSame(ExitCode::Usage, $refused->exitCode);
        self::assertStringContainsString("\n$expected", $refused->message());
        self::assertSame($before, file_get_contents($this->file));
    }

    #[Test]
    public function a_pin_of_a_video_that_is_not_of_the_region_or_restricted_for_all_its_time_is_refused(): void
    {
        $this->ingest([
            ['id' => 'german', 'region' => 'DE', 'views' => 10],
            ['id' => 'adult', 'views' => 10, 'mature' => true],
            ['id' => 'later', 'views' => 10, 'available_from' => Rfc3339::format(time() + 3600)],
        ]);
        $refusal = fn(string $video, string $region, int $seconds): string => $this->refusal(
            ...['pin', $video, '--region', $region, '--reason', 'why'],
            ...['--until', Rfc3339::format(time() + $seconds)],
        );

        self::assertStringContainsString('nothing counts or announces a in DE', $refusal('a', 'DE', 7200));
        self::assertStringContainsString('it is held back: mature', $refusal('adult', 'GB', 7200));
        self::assertStringContainsString('it is available from', $refusal('later', 'GB', 1800));
        self::assertSame('{}', file_get_contents($this->file));
        $this->pin('later', '--until', Rfc3339::format(time() + 7200));
    }

    #[Test]
    public function a_pin_of_a_video_that_a_rule_keeps_out_for_all_its_time_is_refused(): void
    {
        $this->ingest([['id' => 'f', 'title' => 'Gran sorteo', 'views' => 10]]);
        $this->writer('rank');
        $now = time();
        $at = static fn(int $seconds): string => Rfc3339::format($now + $seconds);
        $this->rule('--word', 'sorteo', '--until', $at(3600));
        $review = ['--since', $at(-7200), '--hours', '9', '--after', 'stay-out', '--reason', 'why'];
        self::assertSame(ExitCode::Ok, $this->writer('hold', '--region', 'GB', ...$review));
        $pin = ['pin', 'f', '--region', 'GB', '--reason', 'why', '--until', $at(3600)];

        self::assertStringContainsString('a rule keeps it out', $this->refusal(...$pin));
        $this->pin('f', '--until', $at(3601));
        $this->pin('b', '--rank', '2', '--until', $at(3600));
    }

    #[Test]
    public function an_option_that_would_have_no_effect_is_refused(): void
    {
        $this->writer('rank');
        $pin = ['pin', 'a', '--region', 'GB', '--until', '2999-01-01T00:00:00Z', '--reason', 'why'];
        foreach (
            ['--paid-by: expected' => 'Co', '--category: expected one that has a list' => 'music']
            as $said => $value
        ) {
            $option = [explode(':', $said)[0], $value];
            self::assertStringContainsString($said, $this->refusal(...$pin, ...$option));
        }
        foreach ([[], ['--dry-run']] as $tried) {
            $rule = ['rule', '--word', 'a', '--reason', 'why', '--until', '2020-01-01T00:00:00Z'];
            self::assertStringContainsString('--until: expected a time', $this->refusal(...$rule, ...$tried));
        }
        self::assertSame('{}', file_get_contents($this->file));
    }

    #[Test]
    public function what_json_cannot_say_is_refused_and_holds_up_no_removal(): void
    {
        $rule = ['rule', '--word', 'a', '--until', '2999-01-01T00:00:00Z', '--reason', 'why'];
        self::assertStringContainsString('Expected UTF-8', $this->refusal(...$rule, ...['--by', "J\xf6rg"]));
        self::assertStringContainsString('finite', $this->refusal(...$rule, ...['--factor', '1e999']));
        self::assertSame('{}', file_get_contents($this->file));
        self::assertSame(ExitCode::Ok, $this->writer('remove', 'a', '--by', "J\xf6rg"));
        self::assertSame(['b', 'c', 'd', 'e'], $this->list());
    }

    #[Test]
    public function a_pinned_video_that_may_not_be_shown_is_not_and_status_says_why(): void
    {
        $until = Rfc3339::format(time() + 3600);
        $pin = static fn(string $video, int $rank): array => [
            'video' => $video,
            'region' => 'GB',
            'window' => 'day',
            'rank' => $rank,
            'until' => $until,
            'reason' => 'Election night',
        ];
        $pins = [$pin('e', 1), $pin('unknown', 2), $pin('f', 3), [...$pin('g', 1), 'window' => 'week']];
        $rules = [['channel' => 'Two', 'factor' => 0, 'until' => $until, 'reason' => 'spam']];
        $announced = ['regions' => ['GB'], 'region' => null, 'observed_at' => null, 'views' => null];
        $this->ingest([
            ['id' => 'f', 'views' => 20_000, 'channel' => 'Two'],
            ['id' => 'g', ...$announced, 'published_at' => Rfc3339::format(time() + 3600)],
        ]);
        file_put_contents(
            $this->file,
            json_encode(['pins' => $pins, 'rules' => $rules], JSON_THROW_ON_ERROR),
        );
        $this->writer('remove', 'e', '--reason', 'a court order');

        self::assertSame(['a', 'b', 'c', 'd'], $this->list());
        Database::openForWriting($this->installation->database)->execute(
            'UPDATE editorial SET read_at = read_at - 60', // before that generation
        );
        $status = json_decode($this->installation->run(['status', '--json'])->output, true);
        self::assertSame(
            [
                'it is removed: a court order',
                'no such video is stored',
                'a rule keeps it out',
                'it is not published yet, and nobody counts it',
            ],
            array_column($status['editorial']['not_shown'], 'reason'),
        );
        self::assertStringContainsString(
            'trendvault_writer_editorial_pins{shown="no"} 4',
            $this->installation->run(['status', '--prometheus'])->output,
        );
    }

    #[Test]
    public function removals_are_written_into_the_file_and_end_with_it_but_what_a_source_removed_stays(): void
    {
        $this->installation->run(['ingest', '-'], '{"id": "b", "removed": true, "reason": "source"}' . "\n");
        $this->writer('remove', 'a', '--reason', 'a court order', '--by', 'Ana');
        $this->writer('remove', 'b', '--reason', 'spam');
        self::assertSame(
            <<<'JSON'
            {
              "removals": [
                {
                  "video": "a",
                  "reason": "a court order",
                  "by": "Ana"
                },
                {
                  "video": "b",
                  "reason": "spam"
                }
              ]
            }

            JSON
            ,
            file_get_contents($this->file),
        );
        self::assertSame(['c', 'd', 'e'], $this->list());
        file_put_contents($this->file, '{}');
        self::assertSame(['a', 'c', 'd', 'e'], $this->list());
        self::assertSame(ExitCode::Ok, $this->writer('allow', 'b'));
        self::assertSame(['a', 'b', 'c', 'd', 'e'], $this->list());
    }

    #[Test]
    public function without_the_setting_pins_end_and_what_the_file_removed_stays_removed_by_an_operator(): void
    {
        $this->pin('e', '--rank', '1', '--until', Rfc3339::format(time() + 3600));
        $this->writer('remove', 'a');
        unset($this->installation->environment['EDITORIAL_FILE']);

        self::assertSame(['b', 'c', 'd', 'e'], $this->list());
        self::assertSame(ExitCode::Ok, $this->writer('allow', 'a'));
        self::assertSame(['a', 'b', 'c', 'd', 'e'], $this->list());
    }

    #[Test]
    #[DataProvider('wrongFiles')]
    public function a_wrong_file_is_told_and_changes_nothing(?string $text, string $fault): void
    {
        $this->pin('e', '--rank', '1', '--until', Rfc3339::format(time() + 3600));
        $this->writer('remove', 'a');
        $text === null ? unlink($this->file) : file_put_contents($this->file, $text);
        $ranked = $this->installation->run(['rank']);

        self::assertSame(ExitCode::Ok, $ranked->exitCode);
        self::assertStringContainsString($fault, $ranked->events('editorial_refused')[0]['message']);
        self::assertSame(['e', 'b', 'c', 'd'], $this->list());
        foreach (['editorial', 'status'] as $command) {
            self::assertStringContainsString($fault, $this->installation->run([$command])->output);
        }
        self::assertStringContainsString(
            'trendvault_writer_editorial_failed 1',
            $this->installation->run(['status', '--prometheus'])->output,
        );
        self::assertSame(ExitCode::Usage, $this->writer('editorial'));
        self::assertSame(ExitCode::Usage, $this->writer('allow', 'a'), 'the file in force names it');

        file_put_contents($this->file, '{}');
        self::assertSame(ExitCode::Ok, $this->writer('editorial'));
        self::assertSame(['a', 'b', 'c', 'd', 'e'], $this->list());
        self::assertStringContainsString(
            'trendvault_writer_editorial_failed 0',
            $this->installation->run(['status', '--prometheus'])->output,
        );
    }

    #[Test]
    #[TestWith([null])]
    #[TestWith(['{"removals": ['])]
    public function no_wrong_file_holds_up_a_removal_which_stays_until_the_file_has_named_it_and_no_longer_does(
        ?string $text,
    ): void {
        $text === null ? unlink($this->file) : file_put_contents($this->file, $text);
        $removed = $this->installation->run(['remove', 'b', '--reason', 'a court order']);
        self::assertSame(ExitCode::Ok, $removed->exitCode, $removed->errors);
        self::assertStringContainsString(
            "in the database only: it stays until `allow`, or until the file has named it and no longer does.\nCannot read EDITORIAL_FILE=",
            $removed->events('removed_without_file')[0]['message'],
        );
        self::assertSame($text, is_file($this->file) ? file_get_contents($this->file) : null);
        self::assertSame(['a', 'c', 'd', 'e'], $this->list());
        self::assertStringContainsString(
            "removed  video b: a court order — in the database only, until `allow`\n",
            $this->installation->run(['editorial'])->output,
        );
        $this->writer('remove', 'c');
        self::assertSame(ExitCode::Ok, $this->writer('allow', 'c'));

        file_put_contents($this->file, '{}');
        self::assertSame(['a', 'c', 'd', 'e'], $this->list(), 'it says nothing about it');
        file_put_contents($this->file, '{"removals": [{"video": "b", "reason": "a court order"}]}');
        self::assertSame(['a', 'c', 'd', 'e'], $this->list());
        file_put_contents($this->file, '{}');
        self::assertSame(['a', 'b', 'c', 'd', 'e'], $this->list());
    }

    #[Test]
    public function what_the_file_says_by_now_is_told_before_the_next_run(): void
    {
        self::assertSame(ExitCode::Ok, $this->writer('remove', 'a'));
        $said = $this->installation->run(['editorial'])->output;
        self::assertStringContainsString("removed  video a: no reason given\n", $said);
        self::assertStringNotContainsString('Now the file', $said);
        file_put_contents($this->file, '{"pins": 1}');
        $wrong = $this->installation->run(['editorial']);
        self::assertSame(ExitCode::Usage, $wrong->exitCode);
        self::assertStringContainsString('Now the file is wrong. Cannot read', $wrong->output);
        self::assertStringContainsString("removed  video a: no reason given\n", $wrong->output);
        file_put_contents($this->file, '{}');
        self::assertStringContainsString(
            "Now the file is another one, without a mistake: the next run takes it over.\n",
            $this->installation->run(['editorial'])->output,
        );
    }

    #[Test]
    public function a_changed_file_keeps_its_owner_and_rights_and_nothing_is_written_through_a_link(): void
    {
        if (posix_geteuid() === 0) {
            chown($this->file, 1234);
            chgrp($this->file, 1235);
        }
        chmod($this->file, 0o660);
        $before = [fileowner($this->file), filegroup($this->file), fileperms($this->file)];
        $elsewhere = "{$this->installation->folder->path}/elsewhere";
        file_put_contents($elsewhere, 'kept');
        symlink($elsewhere, "$this->file.new");
        self::assertSame(ExitCode::Ok, $this->writer('remove', 'a'));

        clearstatcache();
        self::assertSame($before, [fileowner($this->file), filegroup($this->file), fileperms($this->file)]);
        self::assertStringContainsString('"video": "a"', (string) file_get_contents($this->file));
        self::assertSame('kept', file_get_contents($elsewhere));
    }

    /** @return iterable<array{?string, string}> */
    public static function wrongFiles(): iterable
    {
        $pin = static fn(
            string $members,
        ): string => '{"video": "e", "window": "day", "until": "2999-01-01T00:00:00Z", "reason": "r"' .
            ", $members}";
        yield [null, 'expected a file that this user can read'];
        yield ['{"pins": [', 'expected JSON'];
        yield [
            '{"pins": [], "holds": []}',
            'holds: unknown, expected only $schema, removals, pins, rules, reviews, allowed, lifted',
        ];
        yield ["{\"pins\": [{$pin('"region": "XX", "rank": 1')}]}", 'pins[0].region: expected one of '];
        yield [
            '{"reviews": [{"region": "GB", "since": "2026-11-20T10:00:00Z", "until": "2026-11-20T10:00:00Z", ' .
            '"hours": 1, "after": "enter", "reason": "r"}]}',
            'reviews[0].until: expected a time after "since"',
        ];
        yield [
            '{"removals": [{}' . str_repeat(', {}', 1_000_000) . ']}',
            'removals: expected a list of at most 10000 objects',
        ];
        yield [
            "{\"pins\": [{$pin('"region": "GB", "rank": 1')}, {$pin('"region": "GB", "rank": 2')}]}",
            'pins[1].video: pins[0] has it in that list already',
        ];
    }

    #[Test]
    public function a_file_that_may_not_be_written_is_left_the_lines_are_printed_and_a_removal_is_in_force(): void
    {
        $folder = "{$this->installation->folder->path}/repository";
        mkdir($folder);
        $this->installation->environment['EDITORIAL_FILE'] = "$folder/editorial.json";
        $hold = [
            'hold',
            '--region',
            'GB',
            '--since',
            '2999-01-01T00:00:00Z',
            '--hours',
            '1',
            '--after',
            'enter',
        ];
        file_put_contents("$folder/editorial.json", '{}');
        $this->writer(...$hold, ...['--reason', 'before']);
        $text = file_get_contents("$folder/editorial.json");
        mkdir("$folder/editorial.json.new"); // root may write everywhere
        $until = Rfc3339::format(time() + 3600);
        $pin = $this->installation->run(['pin', 'e', '--region', 'GB', '--until', $until, '--reason', 'law']);
        $removal = $this->installation->run(['remove', 'a', '--reason', 'law']);

        self::assertSame(ExitCode::Usage, $pin->exitCode);
        self::assertSame(ExitCode::Ok, $removal->exitCode);
        self::assertStringContainsString("Add to its \"pins\":\n", $pin->events('failed')[0]['message']);
        self::assertMatchesRegularExpression(
            '/Take out of its "reviews":\n\[[^\]]*"before"[^\]]*\]\nAdd to its "reviews":\n\{[^}]*"law"/',
            $this->refusal(...$hold, ...['--reason', 'law']),
        );
        $said = $removal->events('removed_without_file')[0]['message'];
        self::assertStringContainsString("Add to its \"removals\":\n", $said);
        self::assertStringContainsString('"reason": "law"', $said);
        self::assertSame($text, file_get_contents("$folder/editorial.json"));
        self::assertSame(['b', 'c', 'd', 'e'], $this->list());
    }

    #[Test]
    public function origins_that_could_not_say_who_placed_a_video_refuse_the_database_from_the_first_one_on(): void
    {
        $version = fn(): mixed => $this->installation->value('PRAGMA user_version');
        $this->list();
        self::assertLessThan(38, $version());
        $this->pin('e', '--rank', '1', '--until', Rfc3339::format(time() + 3600));
        $this->list();
        self::assertSame(38, $version());
    }

    #[Test]
    public function a_rule_lets_a_channel_a_word_or_a_source_count_less_or_never_until_it_ends(): void
    {
        $until = Rfc3339::format(time() + 3600);
        $this->ingest([['id' => 'f', 'title' => 'GRAN SORTEO!', 'views' => 20_000, 'channel' => 'Two']]);
        self::assertSame(['f', 'a', 'b', 'c', 'd', 'e'], $this->list());
        $this->rule('--word', 'sorteo', '--factor', '0.3', '--until', $until, '--public');
        self::assertSame(['a', 'b', 'c', 'f', 'd', 'e'], $this->list());
        self::assertSame(
            '{"f":{"factor":0.3,"reason":"too many"}}',
            $this->installation->value('SELECT rules FROM explanations ORDER BY generation DESC LIMIT 1'),
        );
        self::assertStringContainsString(
            'A rule multiplies its scores with 0.3: too many',
            $this->installation->run(['explain', 'GB', 'f'])->output,
        );
        self::assertStringContainsString(
            "rule     × 0.3 for word sorteo, until $until: too many\n",
            $this->installation->run(['editorial'])->output,
        );

        $this->rule('--channel', 'One & Co', '--until', $until);
        self::assertSame(['f'], $this->list());
        self::assertStringContainsString(
            'In no list of GB: a rule keeps it out',
            $this->installation->run(['explain', 'GB', 'a'])->output,
        );
        $this->rule('--channel', 'One & Co', '--end');
        $text = (string) file_get_contents($this->file);
        file_put_contents($this->file, str_replace($until, Rfc3339::format(time() - 1), $text));
        self::assertSame(['f', 'a', 'b', 'c', 'd', 'e'], $this->list());
        self::assertSame(ExitCode::Usage, $this->writer('rule', '--channel', 'One & Co', '--end'));
        self::assertSame(ExitCode::Usage, $this->writer('rule', '--until', $until));
    }

    #[Test]
    public function a_rule_about_a_word_finds_it_in_the_title_of_any_language(): void
    {
        $of = ['id' => 'f', 'views' => 20_000, 'channel' => 'Two'];
        $this->ingest([[...$of, 'titles' => ['cy' => 'Teitl', 'es' => 'GRAN SORTEO!']]]);
        self::assertSame(['f', 'a', 'b', 'c', 'd', 'e'], $this->list());
        $until = Rfc3339::format(time() + 3600);
        $this->rule('--word', 'sorteo', '--factor', '0.3', '--until', $until);
        self::assertSame(['a', 'b', 'c', 'f', 'd', 'e'], $this->list());
    }

    #[Test]
    public function a_rule_about_a_tag_finds_the_whole_of_it_in_any_case(): void
    {
        $of = ['id' => 'f', 'title' => 'Part', 'views' => 20_000, 'channel' => 'Two'];
        $this->ingest([[...$of, 'tags' => ['Part of it', 'Année 2026']]]);
        $whole = ['f', 'a', 'b', 'c', 'd', 'e'];
        $options = ['--factor', '0.3', '--until', Rfc3339::format(time() + 3600)];
        $this->rule('--tag', 'part', ...$options);
        self::assertSame($whole, $this->list());
        $this->rule('--tag', 'ANNEE-2026', '--region', 'DE', ...$options);
        self::assertSame($whole, $this->list());
        $this->rule('--tag', 'ANNEE-2026', ...$options);
        self::assertSame(['a', 'b', 'c', 'f', 'd', 'e'], $this->list());
        self::assertStringContainsString(
            'for tag ANNEE-2026',
            $this->installation->run(['editorial'])->output,
        );
        $this->rule('--tag', 'année 2026', '--end');
        self::assertSame($whole, $this->list());
    }

    #[Test]
    public function a_rule_may_be_tried_first_and_says_what_enters_leaves_and_moves(): void
    {
        $this->list();
        $before = file_get_contents($this->file);
        $tried = $this->installation->run([
            ...['rule', '--channel', 'Two', '--reason', 'spam', '--dry-run'],
            ...['--until', Rfc3339::format(time() + 3600)],
        ]);
        self::assertSame("No list would change.\n", $tried->output);
        $this->ingest([['id' => 'f', 'views' => 8500, 'channel' => 'Two', 'category' => 'Music']]);
        $tried = $this->installation->run([
            ...['rule', '--channel', 'Two', '--reason', 'spam', '--dry-run'],
            ...['--until', Rfc3339::format(time() + 3600)],
        ]);

        self::assertStringContainsString("GB day: leaves 2 f\n", $tried->output);
        self::assertStringContainsString("GB day: moves 3 to 2 b\n", $tried->output);
        self::assertStringNotContainsString('GB day: moves 1', $tried->output);
        self::assertSame($before, file_get_contents($this->file));
        self::assertSame(['a', 'f', 'b', 'c', 'd', 'e'], $this->list());
    }

    #[
        TestWith([
            'peertube:https://tube.example#DE',
            ['peertube:tube.example', 'peertube:https://tube.example'],
        ]),
    ]
    #[
        TestWith([
            'http:https://tube.example:8443/a?key=b',
            ['http:tube.example', 'http:https://tube.example:8443'],
        ]),
    ]
    #[TestWith(['youtube', []])]
    #[TestWith(['spool:/no/folder', ['spool:/no/folder']])]
    #[Test]
    public function a_rule_names_a_source_by_its_kind_or_as_it_is_set_without_a_path(
        string $source,
        array $names,
    ): void {
        $sources = [7 => SourceKinds::identity($source, [$source])];
        $video = ['video_id' => 'a', 'channel' => 'b', 'category' => null, 'described_by' => 7];
        $hasRule = static fn(string $name): bool => self::rules(['source' => $name], $sources)?->of(
            $video,
            'GB',
            0,
            0,
        ) !== null;
        foreach ([explode(':', $source)[0], ...$names] as $name) {
            self::assertTrue($hasRule($name), $name);
            foreach ([strstr("$name.", '.', true) . 's', "$name.org", "x$name"] as $other) {
                self::assertFalse($hasRule($other), $other);
            }
        }
    }

    #[Test]
    public function a_name_that_nothing_has_is_told_since_it_may_be_a_slip(): void
    {
        $review = ['region' => 'GB', 'since' => '2020-01-01T00:00:00Z', 'hours' => 1, 'after' => 'enter'];
        file_put_contents($this->file, json_encode(['reviews' => [[...$review, 'reason' => 'law']]]));
        $this->list();
        $rule = ['rule', '--until', '2999-01-01T00:00:00Z', '--reason', 'spam', '--channel'];
        $told = fn(string ...$words): string => $this->installation
            ->run(array_values($words))
            ->message('unknown_subject');

        self::assertSame(
            'No stored video is of channel "One": the rule counts when it comes.',
            $told(...$rule, ...['One']),
        );
        self::assertSame(
            'No stored video is of channel "One": it is kept out when it comes.',
            $told('remove', '--channel', 'One'),
        );
        self::assertSame('No stored video is video z: it need not wait when it comes.', $told('allow', 'z'));
        array_pop($rule);
        $this->ingest([
            ['id' => 'h', 'views' => 30, 'tags' => ['Élan'], 'titles' => ['ja' => '本日無料です']],
        ]);
        foreach (
            [
                'word' => [['nowhere', 'itle', 'Élan', 'ـ'], ['title', 'A Title', '無料'], 'has the'],
                'tag' => [['elan vital', 'lan'], ['elan'], 'has the'],
                'source' => [['youtube'], ['by hand'], 'is of'],
            ]
            as $kind => [$unknown, $known, $verb]
        ) {
            foreach ([...$unknown, ...$known] as $name) {
                $notice = "No stored video $verb $kind \"$name\": the rule counts when it comes.";
                $isTold = in_array($name, $unknown, true);
                self::assertSame($isTold ? $notice : '', $told(...$rule, ...["--$kind", $name]), $name);
                $isListed = str_contains(
                    $this->installation->run(['editorial'])->output,
                    "for $kind $name, until 2999-01-01T00:00:00Z: spam — nothing is of it now\n",
                );
                self::assertSame($isTold, $isListed, $name);
                $this->installation->run(['rule', "--$kind", $name, '--end']);
            }
        }
        $hold = [
            'hold',
            '--region',
            'GB',
            '--hours',
            '1',
            '--after',
            'enter',
            '--reason',
            'law',
            '--category',
        ];
        self::assertSame(
            'No stored video is of category "Musik": it waits when it comes.',
            $told(...$hold, ...['Musik']),
        );
        self::assertSame(['', ''], [$told(...$rule, ...['--channel', 'One & Co']), $told('allow', 'a')]);
        $this->ingest([['id' => 'g', 'views' => 300, 'category' => 'Music']]);
        self::assertSame('', $told(...$hold, ...['Music']));
        $reviews = array_map(
            static fn(?string $category): array => [
                ...[...$review, 'reason' => $category ?? 'all'],
                'category' => $category,
            ],
            [null, 'Music', 'Musik'],
        );
        file_put_contents($this->file, json_encode(['reviews' => $reviews]));
        $this->list();
        self::assertStringContainsString(
            ": all\nreview   GB Music, of what came after 2020-01-01T00:00:00Z; after 1 h it enters: Music\n" .
                'review   GB Musik, of what came after 2020-01-01T00:00:00Z; after 1 h it enters: Musik — no video has this category',
            $this->installation->run(['editorial'])->output,
        );
    }

    #[Test]
    public function what_others_wrote_commands_no_terminal(): void
    {
        $escape = "\u{1b}[2J\nremoved  video z\u{9b}\u{202e}";
        file_put_contents($this->file, json_encode(['removals' => [['video' => 'a', 'reason' => $escape]]]));
        $this->list();
        $shown = 'u001b[2J\\u000aremoved  video z\\u009b\\u202e';
        self::assertStringContainsString(
            "removed  video a: \\$shown\n",
            $this->installation->run(['editorial'])->output,
        );
        file_put_contents($this->file, json_encode([$escape => 1]));
        $wrong = $this->installation->run(['editorial'])->output;
        self::assertSame(0, preg_match('/[\x00-\x09\x0b-\x1f]|\xc2[\x80-\x9f]/', $wrong));
        self::assertStringContainsString("\\u001b[2J\n", $wrong);
        self::assertStringContainsString(
            'lists: \u001b[2J',
            $this->installation->run(['explain', 'GB', 'a'])->output,
        );
        $this->installation->run(['rank']);
        self::assertStringContainsString("\n\\u001b[2J\n", $this->installation->run(['status'])->output);
    }

    #[Test]
    public function of_a_first_file_that_is_wrong_nothing_is_said_to_stay_in_force(): void
    {
        $told = fn(string $file): string => file_put_contents($this->file, $file) > 0
            ? $this->installation->run(['rank'])->message('editorial_refused')
            : '';
        $status = fn(): string => $this->installation->run(['status'])->output;
        self::assertStringEndsWith("\nNo file is in force.", $told('{'));
        self::assertStringContainsString(' no file is in force: ', $status());
        self::assertSame('', $told('{}'));
        self::assertStringEndsWith("\nThe last file that could be read stays in force.", $told('{'));
        self::assertStringContainsString(' an older file is in force: ', $status());
    }

    #[Test]
    public function a_rule_that_is_tried_is_compared_at_one_time(): void
    {
        // Each look at the clock finds it an hour later, and one of these gone.
        $this->ingest(
            array_map(
                static fn(int $hour): array => [
                    ...['id' => "until-$hour", 'views' => 8500],
                    'available_until' => Rfc3339::format(time() + 3600 * $hour + 1800),
                ],
                range(0, 9),
            ),
        );
        $clock = new class implements ClockInterface {
            private int $hours = 0;

            #[Override]
            public function now(): DateTimeImmutable
            {
                return new DateTimeImmutable('+' . $this->hours++ . ' hours');
            }
        };
        $environment = ['DB_PATH' => $this->installation->database, 'EDITORIAL_FILE' => $this->file];
        $output = new BufferedOutput();
        new Application($environment, $clock, new NullLogger())->run(
            new StringInput('rule --word nowhere --until 2999-01-01T00:00:00Z --reason why --dry-run'),
            $output,
        );

        self::assertSame("No list would change.\n", $output->fetch());
    }

    #[Test]
    public function a_rule_about_the_same_word_in_other_letters_is_the_same_rule(): void
    {
        $until = ['--until', '2999-01-01T00:00:00Z'];
        $this->rule('--word', 'Straße', ...$until);
        $this->rule('--word', 'STRASSE', '--factor', '0.5', ...$until);
        self::assertStringNotContainsString('never', $this->installation->run(['editorial'])->output);
        self::assertSame(ExitCode::Ok, $this->writer('rule', '--word', 'strasse', '--end'));
        self::assertStringContainsString('"rules": []', (string) file_get_contents($this->file));
    }

    #[Test]
    public function of_several_reviews_of_a_video_the_strictest_is_told(): void
    {
        $review = static fn(array $of): array => [
            ...['region' => 'GB', 'since' => Rfc3339::format(time() - 24 * 3600), 'reason' => 'law'],
            ...$of,
        ];
        $reviews = [
            $review(['hours' => 9, 'after' => 'stay-out']),
            $review(['hours' => 2, 'after' => 'enter', 'category' => 'Music']),
        ];
        $this->ingest([['id' => 'g', 'views' => 300, 'category' => 'Music']]);
        foreach ([$reviews, array_reverse($reviews)] as $some) {
            file_put_contents($this->file, json_encode(['reviews' => $some]));
            self::assertSame([], $this->list());
            self::assertMatchesRegularExpression(
                '/waits    video g in GB, until .*, then stays out/',
                $this->installation->run(['editorial'])->output,
            );
        }
    }

    #[Test]
    public function a_video_waits_as_long_as_the_longest_of_all_reviews_that_it_is_under(): void
    {
        $random = Draws::randomizer();
        $pick = static fn(array $values): mixed => $values[$random->getInt(0, count($values) - 1)];
        for ($draw = Draws::count(usual: 300, long: 20_000); $draw > 0; $draw--) {
            $reviews = [];
            for ($count = $random->getInt(1, 9); $count > 0; $count--) {
                $reviews[] = [
                    ...['region' => $pick(['DE', 'GB', 'GB']), 'category' => $pick([null, 'News', 'Music'])],
                    ...['since' => Rfc3339::format(3600 * $random->getInt(0, 6)), 'reason' => 'law'],
                    ...['hours' => $random->getInt(1, 6), 'after' => $pick(['enter', 'enter', 'stay-out'])],
                    ...$pick([[], ['until' => Rfc3339::format(3600 * $random->getInt(6, 16))]]),
                ];
            }
            $knownSince = 3600 * $random->getInt(0, 8);
            $now = max($knownSince, 3600 * $random->getInt(0, 14));
            $video = ['video_id' => 'a', 'channel' => 'b', 'category' => $pick([null, 'News'])];
            $facts = static fn(array $reviews): ?array => Editorial::read(
                json_encode(['reviews' => $reviews], JSON_THROW_ON_ERROR),
                null,
                0,
            )
                ->rulesAt($now, [])
                ?->of($video, 'GB', $knownSince, $now)
                ?->facts();
            $each = array_filter(array_map(static fn(array $one): ?array => $facts([$one]), $reviews));
            $until = max([0, ...array_column($each, 'review_until')]);
            $staysOut = array_filter(
                array_intersect_key($reviews, $each),
                static fn(array $one): bool => $one['after'] === 'stay-out' &&
                    (Rfc3339::parse($one['until'] ?? '') ?? PHP_INT_MAX) > $until,
            );
            $strictest = [
                'factor' => 0.0,
                'reason' => null,
                'review_until' => $until,
                'enters' => $staysOut === [],
            ];
            self::assertSame(
                $each === [] ? null : $strictest,
                $facts($reviews),
                Draws::hint() . json_encode([$reviews, $video, $knownSince, $now]),
            );
        }
    }

    #[TestWith([['channel' => 'One']])]
    #[TestWith([['word' => 'sorteo']])]
    #[TestWith([['word' => 'gran sorteo']])]
    #[TestWith([['source' => 'youtube']])]
    #[Test]
    public function a_rule_of_one_region_counts_there_only(array $rule): void
    {
        $video = ['video_id' => 'a', 'channel' => 'One', 'category' => null];
        $video += ['title' => 'Gran sorteo', 'described_by' => 7];
        $other = ['video_id' => 'b', 'channel' => 'Two', 'title' => 'Otro', 'described_by' => 8] + $video;
        $rules = self::rules([...$rule, 'region' => 'GB'], [7 => 'youtube']);
        foreach (['DE' => false, 'GB' => true, 'FR' => false] as $region => $counts) {
            self::assertSame($counts, $rules?->of($video, $region, 0, 0) !== null, $region);
            self::assertNull($rules?->of($other, $region, 0, 0), $region);
        }
        self::assertNotNull(self::rules($rule, [7 => 'youtube'])?->of($video, 'DE', 0, 0));
    }

    #[Test]
    public function rules_of_two_regions_about_the_same_are_two(): void
    {
        $until = ['--until', '2999-01-01T00:00:00Z'];
        $this->rule('--channel', 'One & Co', '--region', 'DE', ...$until);
        self::assertSame(['a', 'b', 'c', 'd', 'e'], $this->list());
        $this->rule('--channel', 'One & Co', '--region', 'GB', ...$until);
        self::assertSame([], $this->list());
        self::assertStringContainsString(
            'rule     never for channel One & Co in GB, until 2999-01-01T00:00:00Z',
            $this->installation->run(['editorial'])->output,
        );
        self::assertStringContainsString(
            'Nothing to end: there is no rule for channel One & Co in all regions.',
            $this->refusal('rule', '--channel', 'One & Co', '--end'),
        );
        self::assertSame(
            $this->refusal('rule', '--channel', 'One & Co', '--end'),
            $this->refusal('rule', '--channel', 'One & Co', '--end', '--dry-run'),
        );
        $this->rule('--channel', 'One & Co', '--region', 'GB', '--end');
        self::assertSame(['a', 'b', 'c', 'd', 'e'], $this->list());
        self::assertStringContainsString(
            '--region: expected one of ',
            $this->refusal('rule', '--word', 'a', '--region', 'XX', '--reason', 'why', ...$until),
        );
    }

    #[Test]
    public function what_is_new_in_a_market_under_review_waits_until_it_is_allowed_or_its_time_is_over(): void
    {
        $review = static fn(string $then, int $hours): string => json_encode(
            [
                'reviews' => [
                    [
                        'region' => 'GB',
                        'since' => Rfc3339::format(time() - 3 * 3600),
                        'hours' => $hours,
                        'after' => $then,
                        'reason' => 'law',
                    ],
                ],
            ],
            JSON_THROW_ON_ERROR,
        );
        $this->list();
        $this->ingest([['id' => 'old', 'views' => 300, 'observed_at' => NdjsonLine::ago(4 * 3600)]]);
        $this->ingest([['id' => 'dated-back', 'views' => 200, 'observed_at' => NdjsonLine::ago(4 * 3600)]]);
        $this->knowSince('old', 4);
        foreach (['enter', 'stay-out'] as $then) {
            file_put_contents($this->file, $review($then, 2));
            self::assertSame(['old'], $this->list(), $then);
        }
        self::assertStringContainsString(
            ', then stays out: A title (One & Co)',
            $this->installation->run(['editorial'])->output,
        );
        $metrics = $this->installation->run(['status', '--prometheus'])->output;
        self::assertStringContainsString('trendvault_writer_editorial_waiting 6', $metrics);
        self::assertStringContainsString('trendvault_writer_editorial_reviews 1', $metrics);
        self::assertSame(ExitCode::Ok, $this->writer('remove', 'b'));
        self::assertStringContainsString(
            'waits    video b in',
            $this->installation->run(['editorial'])->output,
        );
        self::assertSame(ExitCode::Ok, $this->writer('allow', 'b', '--by', 'Ana'));
        self::assertStringNotContainsString(
            'waits    video b in',
            $this->installation->run(['editorial'])->output,
        );
        self::assertSame(['b', 'old'], $this->list());
        self::assertStringContainsString(
            "\nallowed  video b, which waits for no review (Ana)\n",
            $this->installation->run(['editorial'])->output,
        );
        self::assertSame(ExitCode::Ok, $this->writer('allow', 'b', '--end'));
        self::assertSame(['old'], $this->list());
        self::assertStringContainsString('video b waits for reviews', $this->refusal('allow', 'b', '--end'));
        self::assertSame(ExitCode::Ok, $this->writer('allow', 'b'));
        $this->pin('c', '--rank', '2', '--until', Rfc3339::format(time() + 3600));
        self::assertSame(['b', 'c', 'old'], $this->list());
        self::assertSame(ExitCode::Ok, $this->writer('allow', '--channel', 'One & Co'));
        self::assertSame(['a', 'c', 'b', 'old', 'd', 'e'], $this->list());
    }

    #[Test]
    public function what_a_catalogue_announces_in_a_region_is_new_there_once_however_long_it_is_known_elsewhere(): void
    {
        $age = static fn(int $hours): string => Rfc3339::format(time() - 3600 * $hours);
        $review = [
            'region' => 'GB',
            'since' => $age(48),
            'hours' => 5,
            'after' => 'enter',
            'reason' => 'law',
        ];
        $shows = fn(string $id = 'f'): bool => $this->list() !== [] &&
            $this->installation->value(self::LIST_OF_GB . " AND video_id = '$id'") !== null;
        $announce = function (string ...$regions): void {
            $line = [
                'id' => 'f',
                'regions' => $regions,
                'region' => null,
                'observed_at' => null,
                'views' => null,
            ];
            $this->ingest([$line]);
        };
        $pass = function (int $hours): void {
            $database = Database::openForWriting($this->installation->database);
            $database->run("UPDATE catalogue SET first_announced_at = first_announced_at - 3600 * $hours");
            $database->close();
        };
        file_put_contents($this->file, json_encode(['reviews' => [$review]]));
        $this->ingest([['id' => 'f', 'region' => 'DE', 'views' => 300]]);
        $this->knowSince('f', 100);
        $announce('DE');
        $pass(100);

        $this->ingest([['id' => 'g', 'region' => 'DE', 'views' => 300]]);
        $this->knowSince('g', 100);
        $this->ingest([
            ['id' => 'g', 'observed_at' => NdjsonLine::ago(50 * 3600)],
            ['id' => 'g', 'views' => 2000],
        ]);
        self::assertFalse($shows('g'), 'counted a moment ago, and dated back');
        $this->knowSince('g', 100);
        self::assertTrue($shows('g'), 'counted long ago');
        $this->ingest([['id' => 'h', 'observed_at' => NdjsonLine::ago(60 * 3600)]]);
        $this->knowSince('h', 100);
        self::assertFalse($shows('h'), 'not counted for two days');
        $this->ingest([
            ['id' => 'h', 'regions' => ['GB'], 'region' => null, 'observed_at' => null, 'views' => null],
        ]);
        self::assertTrue($shows('h'), 'announced a moment ago, but counted long ago');
        $unseen = [
            'mature' => ['mature' => true],
            'embargo' => ['available_from' => $age(-9)],
            'premiere' => ['published_at' => $age(-9)],
        ];
        foreach ($unseen as $id => $fields) {
            $line = ['region' => null, 'observed_at' => null, 'views' => null, ...$fields];
            $this->ingest([['id' => $id, 'regions' => ['GB'], ...$line]]);
            self::assertFalse($shows($id), $id);
            self::assertStringContainsString(
                "waits    video $id in GB",
                $this->installation->run(['editorial'])->output,
            );
        }
        $announce('DE', 'GB');
        self::assertFalse($shows(), 'announced a moment ago');
        $pass(4);
        $announce('DE', 'GB');
        self::assertFalse($shows(), 'announced four hours ago, and again');
        $pass(2);
        self::assertTrue($shows(), 'announced six hours ago');
        $announce('GB');
        $announce('DE', 'GB');
        self::assertTrue($shows(), 'announced again');
        $other = "spool:{$this->installation->folder->path}";
        $this->installation->environment['SOURCES'] = $other;
        $line = ['id' => 'f', 'regions' => ['GB'], 'region' => null, 'observed_at' => null, 'views' => null];
        $file = $this->installation->folder->write('other', NdjsonLine::of($line));
        self::assertSame(ExitCode::Ok, $this->writer('ingest', '--as', $other, $file));
        self::assertTrue($shows(), 'announced by another source, too');
        $announce('DE');
        self::assertTrue($shows(), 'announced by that one alone');
        $this->ingest([['id' => 'f', 'views' => 300]]);
        self::assertTrue($shows(), 'counted for the first time');
    }

    #[Test]
    public function what_is_new_is_held_by_a_command_which_may_be_tried_first_and_ends(): void
    {
        $this->list();
        $hold = ['hold', '--region', 'GB', '--since', Rfc3339::format(time() - 7200), '--reason', 'law'];
        $stayOut = [...$hold, '--hours', '5', '--after', 'stay-out', '--by', 'Ana'];
        $tried = $this->installation->run([...$stayOut, '--dry-run'])->output;
        self::assertStringContainsString("GB day: leaves 1 a\n", $tried);
        self::assertSame('{}', file_get_contents($this->file));
        self::assertSame(ExitCode::Ok, $this->writer(...$stayOut));
        self::assertSame([], $this->list());
        $until = ['--until', '2999-01-01T00:00:00Z'];
        $again = ['hold', '--region', 'GB', '--hours', '6', '--after', 'enter', '--reason', 'law', ...$until];
        self::assertSame(ExitCode::Ok, $this->writer(...$again));
        self::assertSame([], $this->list());
        self::assertStringContainsString(
            "review   GB, of what came after $hold[4]; after 6 h it enters, until 2999-01-01T00:00:00Z: law\n",
            $this->installation->run(['editorial'])->output,
        );
        self::assertSame(ExitCode::Ok, $this->writer('hold', '--region', 'GB', '--end'));
        self::assertSame(['a', 'b', 'c', 'd', 'e'], $this->list());
        self::assertSame(ExitCode::Ok, $this->writer(...$again));
        self::assertSame(['a', 'b', 'c', 'd', 'e'], $this->list(), 'from now on');
        file_put_contents(
            $this->file,
            str_replace(
                '2999',
                '2020',
                (string) preg_replace(
                    '/"since": "[^"]+/',
                    '"since": "2019-01-01T00:00:00Z',
                    (string) file_get_contents($this->file),
                ),
            ),
        );
        $this->writer('rank');
        self::assertStringContainsString('there is no review', $this->refusal('allow', 'a'));
        self::assertSame(ExitCode::Ok, $this->writer(...$again));
        self::assertSame(['a', 'b', 'c', 'd', 'e'], $this->list(), 'from now on, after one that is over');
        self::assertStringContainsString(
            'there is no review of GB Music',
            $this->refusal('hold', '--region', 'GB', '--category', 'Music', '--end'),
        );
        self::assertStringContainsString(
            'there is no review of GB Music',
            $this->refusal('hold', '--region', 'GB', '--category', 'Music', '--end', '--dry-run'),
        );
        self::assertStringContainsString('--region is missing', $this->refusal('hold', '--hours', '1'));
        $wrong = $this->refusal(...$again, ...['--since', '2999-01-01T00:00:00Z']);
        self::assertStringContainsString('--until: expected a time after --since', $wrong);
        $later = ['hold', '--region', 'GB', '--hours', '6', '--after', 'enter', '--reason', 'law'];
        self::assertSame(ExitCode::Ok, $this->writer(...$later, ...['--since', '2999-02-01T00:00:00Z']));
        self::assertStringContainsString('(2999-02-01T00:00:00Z)', $this->refusal(...$again));
        $wrong = $this->refusal(...$hold, ...['--until', '2020-01-01T00:00:00Z']);
        self::assertStringContainsString('--until: expected a time to come', $wrong);
        $wrong = $this->refusal(...$hold);
        self::assertStringContainsString('--hours: expected a whole number from 1 to 720', $wrong);
        self::assertStringContainsString('--after: expected enter or stay-out', $wrong);
    }

    #[Test]
    public function a_review_of_a_joined_category_holds_it_under_each_of_its_names(): void
    {
        $this->ingest([['id' => 'g', 'views' => 300, 'category' => 'Musik']]);
        $regions = "{$this->installation->folder->path}/regions.json";
        $this->installation->environment['REGIONS_FILE'] = $regions;
        $categories = ['Music' => ['also' => ['Musik', 'Musique']]];
        file_put_contents(
            $regions,
            json_encode(['site' => ['name' => 'A site', 'categories' => $categories]]),
        );
        $this->ingest([['id' => 'h', 'views' => 200, 'category' => 'Musique']]);
        $hold = [
            'hold',
            '--region',
            'GB',
            '--since',
            '2020-01-01T00:00:00Z',
            '--hours',
            '9',
            '--after',
            'enter',
        ];
        foreach (['Music', 'Musik', 'Tonkunst'] as $category) {
            self::assertSame(
                ExitCode::Ok,
                $this->writer(...$hold, ...['--reason', 'law', '--category', $category]),
            );
            $isOne = $category !== 'Tonkunst';
            self::assertSame(
                $isOne ? [] : ['g', 'h'],
                array_values(array_intersect($this->list(), ['g', 'h'])),
            );
            self::assertSame(
                $isOne ? 0 : 1,
                substr_count($this->installation->run(['editorial'])->output, 'no video has this category'),
                $category,
            );
            $byAnother = $isOne ? 'Musique' : $category;
            self::assertSame(
                ExitCode::Ok,
                $this->writer('hold', '--region', 'GB', '--category', $byAnother, '--end'),
                $category,
            );
        }
    }

    #[Test]
    public function a_review_holds_what_came_into_its_list_after_it_began_whatever_was_announced_counted_or_renamed(): void
    {
        $random = Draws::randomizer();
        $pick = static fn(array $values): mixed => $values[$random->getInt(0, count($values) - 1)];
        $pause = static fn(): int => 900 * $random->getInt(1, 4);
        for ($draw = Draws::count(usual: 40, long: 2_000); $draw > 0; $draw--) {
            $database = MigratedDatabase::inMemory();
            [$now, $joined, $reviews, $allowed, $videos, $story] = [FixedClock::NOON, [], [], [], [], []];
            for ($step = 0; $step < 24; $step++) {
                $now += $pause();
                $id = $pick(['a', 'b', 'c']);
                $name = $pick(['News', 'Music', 'Musik', null]);
                $category = $joined[$name ?? ''] ?? $name;
                $regions = $pick([['GB'], ['DE'], ['DE', 'GB']]);
                $act = $pick([
                    ...['announce', 'announce', 'count', 'count'],
                    ...['count', 'review', 'end', 'allow', 'join'],
                ]);
                $story[] = [Rfc3339::format($now), $act, $id, $name, $regions];
                $store = new ObservationStore($database, $now, categories: $joined);
                $store->begin(ObservationStore::BY_HAND);
                $store->hear();
                $line = StoredObservations::observation(
                    $id,
                    $regions[0],
                    $now,
                    $step,
                    category: $category,
                    title: "$step",
                );
                $before = $videos[$id]['category'] ?? null;
                if ($act === 'announce') {
                    $announcement = new Announcement(
                        $id,
                        $regions,
                        $line->description(),
                        $name === null ? ['category'] : [],
                    );
                    $store->prepareToAnnounce([$announcement]);
                    $store->announce($announcement);
                    $isIn = in_array('GB', $regions, true);
                    $videos[$id]['announced'] = $isIn ? $videos[$id]['announced'] ?? $now : null;
                } elseif ($act === 'count') {
                    $category ??= $before; // What a line does not say stays.
                    $store->prepareFor([$line]);
                    $store->add($line);
                    $videos[$id]['counted'] ??= $regions[0] === 'GB' ? $now : null;
                } elseif ($act === 'review') {
                    $end = $pick([[], ['until' => Rfc3339::format($now + 4 * $pause())]]);
                    $reviews[] = [
                        ...[
                            'region' => $pick(['GB', 'GB', 'DE']),
                            'category' => $pick([null, 'News', 'Music', 'Musik']),
                        ],
                        ...[
                            'since' => Rfc3339::format($now),
                            'hours' => $random->getInt(1, 9),
                            'reason' => 'law',
                        ],
                        ...['after' => $pick(['enter', 'stay-out']), ...$end],
                    ];
                } elseif ($act === 'end' && $reviews !== []) {
                    array_splice($reviews, $random->getInt(0, count($reviews) - 1), 1);
                } elseif ($act === 'allow') {
                    $allowed = $pick([[], [$id => ['video' => $id, 'by' => 'Ana']]]);
                } elseif ($act === 'join') {
                    $joined = ['Musik' => 'Music'];
                }
                if ($act === 'announce' || $act === 'count') {
                    $isSame = ($joined[$before ?? ''] ?? $before) === ($joined[$category ?? ''] ?? $category);
                    $videos[$id]['since'] = $isSame ? $videos[$id]['since'] ?? 0 : $now;
                    $videos[$id]['category'] = $category;
                }
                $now += $pause();
                $isHeld = static function (array $video, string $id) use (
                    $reviews,
                    $allowed,
                    $joined,
                    $now,
                ): bool {
                    $known = min(array_filter([$video['announced'] ?? null, $video['counted'] ?? null]));
                    $is = static fn(?string $name): string => $joined[$name ?? ''] ?? ($name ?? '');

                    return !isset($allowed[$id]) &&
                        array_any($reviews, static function (array $one) use (
                            $video,
                            $known,
                            $is,
                            $now,
                        ): bool {
                            $since = $one['category'] === null ? $known : max($known, $video['since']);

                            return $one['region'] === 'GB' &&
                                ($one['category'] === null ||
                                    $is($one['category']) === $is($video['category'])) &&
                                $since > Rfc3339::parse($one['since']) &&
                                $now < (Rfc3339::parse($one['until'] ?? '') ?? PHP_INT_MAX) &&
                                ($one['after'] === 'stay-out' || $now < $since + 3600 * $one['hours']);
                        });
                };
                $inRegion = array_filter(
                    $videos,
                    static fn(array $one): bool => isset($one['announced']) || isset($one['counted']),
                );
                $expected = array_keys(
                    array_filter(
                        $inRegion,
                        static fn(array $one, string $id): bool => !$isHeld($one, $id),
                        ARRAY_FILTER_USE_BOTH,
                    ),
                );
                $file = [
                    'reviews' => array_map(array_filter(...), $reviews),
                    'allowed' => array_values($allowed),
                ];
                $rules = Editorial::read(json_encode($file, JSON_THROW_ON_ERROR), null, 0)->rulesAt(
                    $now,
                    [],
                    $joined,
                );
                $listed = new RankingPublisher($database, rules: $rules)->preview($now)['GB week'] ?? [];
                sort($listed);
                sort($expected);
                self::assertSame(
                    $expected,
                    $listed,
                    Draws::hint() . json_encode([$reviews, $allowed, $videos, $story]),
                );
            }
        }
    }

    #[Test]
    public function at_a_reviews_end_nothing_waits_any_more(): void
    {
        $review = ['region' => 'GB', 'since' => '2020-01-01T00:00:00Z', 'hours' => 9, 'after' => 'stay-out'];
        foreach ([1 => [], 0 => ['a', 'b', 'c', 'd', 'e']] as $later => $list) {
            $until = Rfc3339::format(time() + 3600 * $later);
            $reviews = [[...$review, 'until' => $until, 'reason' => 'law']];
            file_put_contents($this->file, json_encode(['reviews' => $reviews]));
            self::assertSame($list, $this->list());
        }
        self::assertStringEndsWith(': law — over', trim($this->installation->run(['editorial'])->output));
    }

    #[Test]
    public function after_a_reviews_time_new_videos_enter_or_stay_out_as_it_says(): void
    {
        $this->ingest([['id' => 'g', 'views' => 300, 'observed_at' => NdjsonLine::ago(3 * 3600)]]);
        $this->knowSince('g', 3);
        $review = [
            'region' => 'GB',
            'since' => Rfc3339::format(time() - 24 * 3600),
            'hours' => 2,
            'reason' => 'law',
        ];
        foreach (['enter' => ['g'], 'stay-out' => []] as $then => $list) {
            file_put_contents($this->file, json_encode(['reviews' => [[...$review, 'after' => $then]]]));
            self::assertSame($list, $this->list(), $then);
        }
        self::assertStringContainsString(
            'waits    video a in GB',
            $this->installation->run(['editorial'])->output,
        );
        self::assertStringNotContainsString(
            'waits    video g',
            $this->installation->run(['editorial'])->output,
        );
    }

    #[Test]
    public function a_word_is_found_as_a_whole_one_in_any_case_and_with_any_accents(): void
    {
        $draws = Draws::randomizer();
        $cases = [];
        foreach (self::WORDS as $word => [$glued, $forms]) {
            foreach ($forms as $form) {
                $cases[] = [$word, $form, $form === $word ? $glued : ''];
            }
        }
        for ($draw = 0; $draw < Draws::count(usual: 300, long: 20_000); $draw++) {
            [$word, $form, $glued] = $cases[$draws->getInt(0, count($cases) - 1)];
            $form = match ($draws->getInt(0, 4)) {
                0 => Normalizer::normalize($form, Normalizer::FORM_D),
                1 => str_contains(mb_strtoupper($form), 'I') ? $form : mb_strtoupper($form),
                2 => mb_substr($form, 0, 1) . "\u{200b}" . mb_substr($form, 1),
                default => $form,
            };
            [$before, $after] = [self::drawTitle($draws), self::drawTitle($draws)];
            $isFound = fn(string $text): bool => $this->hasRule($word, $text);
            $hint = Draws::hint() . " $word in $before $form $after";
            self::assertTrue($isFound("$before $form $after"), $hint);
            self::assertTrue($isFound("$before – “{$form}”!$after"), $hint);
            self::assertFalse($isFound("$before $after"), $hint);
            if ($glued !== '') {
                self::assertFalse($isFound("$before $form$glued $after"), $hint);
                self::assertFalse($isFound("$before $glued$form $after"), $hint);
            }
        }
    }

    #[Test]
    public function letters_that_a_mark_makes_others_are_not_taken_for_one_another(): void
    {
        foreach (['мой' => 'мои', 'が' => 'か', 'กิน' => 'กน', 'कुल' => 'कल', 'o' => 'oo'] as $word => $other) {
            self::assertFalse($this->hasRule($word, "x $other x"), $word);
            self::assertFalse($this->hasRule($other, "x $word x"), $word);
        }
        self::assertFalse($this->hasRule('ـ', 'x y'));
    }

    private static function drawTitle(Randomizer $draws): string
    {
        $words = [
            'Live',
            'Über',
            'новости',
            'ニュース',
            '今日',
            'أخبار',
            'समाचार',
            'ข่าว',
            '뉴스',
            '🎁',
            '4',
            'd’art',
        ];
        $picked = [];
        for ($count = $draws->getInt(0, 3); $count > 0; $count--) {
            $picked[] = $words[$draws->getInt(0, count($words) - 1)];
        }

        return implode(' ', $picked);
    }

    private function hasRule(string $word, string $title): bool
    {
        $rules = self::rules(['word' => $word]);
        $video = ['video_id' => 'a', 'channel' => 'b', 'category' => null, 'title' => $title];

        return $rules?->of($video, 'GB', 0, 0) !== null;
    }

    /**
     * @param array<string, string> $of
     * @param array<int, string> $sources
     */
    private static function rules(array $of, array $sources = []): ?Rules
    {
        $rule = [...$of, 'factor' => 0, 'until' => '2999-01-01T00:00:00Z', 'reason' => 'r'];

        return Editorial::read(json_encode(['rules' => [$rule]], JSON_THROW_ON_ERROR), null, 0)->rulesAt(
            0,
            $sources,
        );
    }

    private function refusal(string ...$words): string
    {
        $refused = $this->installation->run(array_values($words));
        self::assertSame(ExitCode::Usage, $refused->exitCode, $refused->errors);

        return $refused->message();
    }

    /** @param list<array<string, mixed>> $lines */
    private function ingest(array $lines): void
    {
        $filled = array_map(
            static fn(array $line): array => ['observed_at' => NdjsonLine::ago(60), ...$line],
            $lines,
        );
        self::assertSame(
            ExitCode::Ok,
            $this->installation->run(['ingest', '-'], NdjsonLine::many($filled))->exitCode,
        );
    }

    private function knowSince(string $video, int $hours): void
    {
        $database = Database::openForWriting($this->installation->database);
        $since = time() - 3600 * $hours;
        $database->run('UPDATE videos SET first_seen_at = ? WHERE id = ?', [$since, $video]);
        $database->run('UPDATE velocity SET first_counted_at = ? WHERE video_id = ?', [$since, $video]);
        $database->close();
    }

    private function rule(string ...$options): void
    {
        $result = $this->installation->run(['rule', '--reason', 'too many', ...array_values($options)]);
        self::assertSame(ExitCode::Ok, $result->exitCode, $result->errors);
    }

    private function pin(string $video, string ...$options): void
    {
        $result = $this->installation->run([
            'pin',
            $video,
            ...['--region', 'GB', '--window', 'day', '--reason', 'Election night'],
            ...array_values($options),
        ]);
        self::assertSame(ExitCode::Ok, $result->exitCode, $result->errors);
    }

    private function writer(string ...$words): ExitCode
    {
        return $this->installation->run(array_values($words))->exitCode;
    }

    /** @return list<string> the newest list of GB, ranked anew */
    private function list(): array
    {
        self::assertSame(ExitCode::Ok, $this->writer('rank'));

        return array_column($this->installation->rows(self::LIST), 'video_id');
    }
}
