<?php

declare(strict_types=1);

namespace TrendVault\Writer\Tests\Commands;

use PHPUnit\Framework\Attributes\Test;
use PHPUnit\Framework\TestCase;
use TrendVault\Writer\Application;
use TrendVault\Writer\ExitCode;
use TrendVault\Writer\Tests\Support\Draws;
use TrendVault\Writer\Tests\Support\Installation;
use TrendVault\Writer\Tests\Support\NdjsonLine;
use TrendVault\Writer\Tests\Support\Process;

final class IngestTest extends TestCase
{
    private const int MOST_CLASSES = 25;

    #[Test]
    public function bad_lines_are_rejected_with_number_and_reason_and_the_rest_is_stored(): void
    {
        $installation = Installation::migrated();
        $lines = [
            NdjsonLine::of(['id' => 'good-1', 'observed_at' => NdjsonLine::ago(60)]),
            '{"broken": ',
            NdjsonLine::of(['id' => 'no-views', 'views' => null]),
            NdjsonLine::of(['id' => 'negative', 'views' => -1]),
            NdjsonLine::of(['id' => 'nowhere', 'region' => 'XX']),
            "{\"id\": \"\xff\"}",
            NdjsonLine::of(['id' => 'huge', 'title' => str_repeat('x', 10_000_000)]),
            NdjsonLine::of(['id' => 'unknown', 'title' => null, 'observed_at' => NdjsonLine::ago(60)]),
            NdjsonLine::of(['id' => 'good-2', 'observed_at' => NdjsonLine::ago(60)]),
        ];
        $result = $installation->run(['ingest', '-'], implode("\n", $lines) . "\n");

        self::assertSame(ExitCode::Ok, $result->exitCode);
        self::assertSame(
            ['good-1', 'good-2'],
            array_column(
                $installation->rows('SELECT video_id FROM observations ORDER BY video_id'),
                'video_id',
            ),
        );
        [$report] = glob("{$installation->folder->path}/rejected/*.report.ndjson");
        self::assertSame(
            [
                [2, 'not_json'],
                [3, 'missing_field'],
                [4, 'bad_count'],
                [5, 'unknown_region'],
                [6, 'not_utf8'],
                [7, 'too_long'],
                [8, 'missing_metadata'],
            ],
            array_map(
                static fn(string $line): array => array_slice(array_values(json_decode($line, true)), 0, 2),
                file($report),
            ),
        );
        self::assertSame(
            implode("\n", array_slice($lines, 1, 7)) . "\n",
            file_get_contents(str_replace('.report', '', $report)),
        );
        self::assertStringContainsString('2 accepted', $result->message('ingested'));
        self::assertStringContainsString('7 rejected', $result->message('ingested'));
        self::assertSame(7, $installation->value('SELECT sum(line_count) FROM rejections'));
    }

    #[Test]
    public function bad_tags_licences_titles_and_pictures_are_left_out_told_and_reject_no_line(): void
    {
        $installation = Installation::migrated();
        $bad = [
            'tags' => [[1], ['a', ''], 'a', array_fill(0, 31, 'a')],
            'licence' => [7, [], ' '],
            'titles' => [['Ein Titel'], ['no_tag' => 'A title'], ['de' => '']],
            'pictures' => [
                'https://a/b',
                ['large' => self::picture(640)],
                [self::picture(640), ['width' => 320] + self::picture(320, 'https://a/b?c')],
                [self::picture(0)],
                [['width' => '640'] + self::picture(640)],
                [['height' => 10_001] + self::picture(640)],
            ],
        ];
        $lines = [NdjsonLine::of(['observed_at' => NdjsonLine::ago(100), 'licence' => 'CC0-1.0'])];
        foreach ($bad as $field => $values) {
            foreach ($values as $index => $value) {
                $lines[] = NdjsonLine::of([
                    'observed_at' => NdjsonLine::ago(90 - count($lines)),
                    'views' => 1001 + $index,
                    $field => $value,
                ]);
            }
        }
        $result = $installation->run(['ingest', '-'], implode("\n", $lines) . "\n");

        self::assertSame(ExitCode::Ok, $result->exitCode, $result->errors);
        self::assertSame(
            ['tags' => 4, 'licence' => 3, 'titles' => 3, 'pictures' => 6],
            $result->events('values_ignored')[0]['fields'],
        );
        self::assertSame([], $result->events('videos_held'));
        self::assertSame(
            [['tags' => null, 'licence' => 'CC0-1.0', 'titles' => null, 'pictures' => null]],
            $installation->rows('SELECT tags, licence, titles, pictures FROM details'),
        );
    }

    #[Test]
    public function of_many_pictures_the_first_eight_are_kept_and_lists_show_two(): void
    {
        $installation = Installation::migrated();
        $send = static fn(int $age, array ...$lines) => $installation->run(
            ['ingest', '-'],
            NdjsonLine::many(
                array_map(
                    static fn(array $line): array => ['observed_at' => NdjsonLine::ago($age), ...$line],
                    $lines,
                ),
            ),
        );
        $thumbs = static fn(string $id): array => $installation->rows(
            "SELECT thumb_base AS base, thumbs, pictures FROM videos LEFT JOIN details ON video_id = id WHERE id = '$id'",
        )[0];
        $widths = [1280, 100, 320, 640, 480, 960, 200, 1920, 330];
        $pictures = array_map(self::picture(...), $widths);
        $result = $send(
            90,
            ['id' => 'many', 'pictures' => $pictures],
            ['id' => 'bare', 'thumb_base' => null, 'pictures' => [self::picture(100), self::picture(500)]],
            ['id' => 'small', 'pictures' => [self::picture(100), self::picture(200)]],
            ['id' => 'none'],
        );

        self::assertSame(ExitCode::Ok, $result->exitCode, $result->errors);
        self::assertSame(['pictures beyond 8' => 1], $result->events('values_ignored')[0]['fields']);
        self::assertSame(
            [
                'base' => 'https://thumbs.example/video-1',
                'thumbs' => '["https://a/640","https://a/320"]',
                'pictures' => json_encode(array_slice($pictures, 0, 8), JSON_UNESCAPED_SLASHES),
            ],
            $thumbs('many'),
        );
        self::assertSame('["https://a/500","https://a/500"]', $thumbs('bare')['thumbs']);
        self::assertSame('https://a/500', $thumbs('bare')['base']);
        self::assertSame('["https://a/200","https://a/200"]', $thumbs('small')['thumbs']);
        self::assertNull($thumbs('none')['thumbs']);

        $kept = ['title' => null, 'channel' => null, 'thumb_base' => null, 'views' => 1001];
        $result = $send(
            60,
            ['id' => 'many', ...$kept],
            ['id' => 'bare', ...$kept, 'pictures' => [self::picture(600)]],
            [
                'id' => 'small',
                'regions' => ['GB'],
                'region' => null,
                'views' => null,
                'pictures' => [self::picture(700)],
            ],
        );

        self::assertSame(ExitCode::Ok, $result->exitCode, $result->errors);
        self::assertSame('["https://a/640","https://a/320"]', $thumbs('many')['thumbs']);
        self::assertSame('https://a/600', $thumbs('bare')['base'], 'no line said another');
        self::assertSame('["https://a/700","https://a/700"]', $thumbs('small')['thumbs']);
        self::assertSame('https://thumbs.example/video-1', $thumbs('small')['base']);

        $unset = ['unset' => ['pictures']];
        $result = $send(30, ['id' => 'bare', ...$kept, ...$unset], ['id' => 'many', ...$kept, ...$unset]);

        self::assertSame(ExitCode::Ok, $result->exitCode, $result->errors);
        self::assertSame('https://thumbs.example/video-1', $thumbs('many')['base']);
        self::assertNull($thumbs('many')['thumbs']);
        $ofNoHost = '/^\["(data:image[^"]+)","\1"\]$/D';
        self::assertMatchesRegularExpression($ofNoHost, (string) $thumbs('bare')['thumbs']);
        $send(20, ['id' => 'bare', ...$kept, 'title' => 'Another']);
        self::assertMatchesRegularExpression($ofNoHost, (string) $thumbs('bare')['thumbs']);
        $send(15, ['id' => 'bare', ...$kept, 'pictures' => [self::picture(700)]]);
        self::assertSame('["https://a/700","https://a/700"]', $thumbs('bare')['thumbs']);
        $send(10, ['id' => 'bare', ...$kept, ...$unset]);
        self::assertMatchesRegularExpression($ofNoHost, (string) $thumbs('bare')['thumbs']);
        self::assertStringNotContainsString(
            'https://a/',
            json_encode($thumbs('bare'), JSON_UNESCAPED_SLASHES),
        );
        $send(5, ['id' => 'bare', ...$kept, 'thumb_base' => 'https://thumbs.example/b']);
        self::assertSame(
            ['base' => 'https://thumbs.example/b', 'thumbs' => null, 'pictures' => null],
            $thumbs('bare'),
        );
    }

    /** @return array{url: string, width: int, height: int} */
    private static function picture(int $width, ?string $url = null): array
    {
        return ['url' => $url ?? "https://a/$width", 'width' => $width, 'height' => 90];
    }

    #[Test]
    public function of_many_titles_sixteen_are_kept_those_in_languages_of_regions_first_and_that_is_told(): void
    {
        $installation = Installation::migrated();
        $others = array_map(static fn(int $index): string => 'x' . chr(97 + $index), range(0, 17));
        $titles = [
            ...array_fill_keys($others, 'A title'),
            'de-AT' => 'Ein Titel',
            'zz' => null,
            'pl' => 'Tytuł',
        ];
        $few = array_slice($titles, -18);
        $lines = [
            ['id' => 'many', 'titles' => $titles, 'observed_at' => NdjsonLine::ago(90)],
            [
                'id' => 'few',
                'titles' => [...array_slice($few, 2), 'zy' => null],
                'observed_at' => NdjsonLine::ago(90),
            ],
        ];
        $result = $installation->run(['ingest', '-'], NdjsonLine::many($lines));

        self::assertSame(ExitCode::Ok, $result->exitCode, $result->errors);
        self::assertSame(['titles beyond 16' => 1], $result->events('values_ignored')[0]['fields']);
        $kept = ['de-AT' => 'Ein Titel', 'pl' => 'Tytuł', ...array_slice($titles, 0, 14)];
        self::assertSame(
            json_encode($kept, JSON_UNESCAPED_UNICODE),
            $installation->value("SELECT titles FROM details WHERE video_id = 'many'"),
        );
        self::assertSame(
            array_filter(array_slice($few, 2)),
            json_decode(
                (string) $installation->value("SELECT titles FROM details WHERE video_id = 'few'"),
                true,
            ),
        );
    }

    #[Test]
    public function the_same_file_twice_changes_nothing(): void
    {
        $installation = Installation::migrated();
        $file = $installation->folder->write(
            'views.ndjson',
            NdjsonLine::many([
                ['id' => 'a', 'observed_at' => NdjsonLine::ago(7200), 'views' => 10],
                ['id' => 'a', 'observed_at' => NdjsonLine::ago(3600), 'views' => 30],
                ['id' => 'b', 'observed_at' => NdjsonLine::ago(3600)],
            ]),
        );
        $tables = ['SELECT * FROM videos', 'SELECT * FROM observations', 'SELECT * FROM velocity'];
        $installation->run(['ingest', $file]);
        $before = array_map($installation->rows(...), $tables);
        $result = $installation->run(['ingest', $file]);

        self::assertSame($before, array_map($installation->rows(...), $tables));
        self::assertSame(3, $result->events('ingested')[0]['unchanged']);
    }

    #[Test]
    public function archived_data_can_be_moved_to_now(): void
    {
        $installation = Installation::migrated();
        $file = $installation->folder->write(
            'views.ndjson',
            NdjsonLine::many([
                [
                    'id' => 'a',
                    'observed_at' => '2017-09-13T12:00:00Z',
                    'published_at' => '2017-09-13T00:00:00Z',
                ],
                [
                    'id' => 'a',
                    'observed_at' => '2017-09-14T12:00:00Z',
                    'published_at' => '2017-09-13T00:00:00Z',
                ],
            ]),
        );
        $before = time();
        self::assertSame(
            '',
            $installation->run(['ingest', '--shift-to-now', $file])->message('database_not_empty'),
        );

        $newest = $installation->value('SELECT max(observed_at) FROM observations');
        self::assertContains($newest, range($before, time()));
        self::assertSame($newest - 86_400, $installation->value('SELECT min(observed_at) FROM observations'));
        self::assertSame($newest - 129_600, $installation->value('SELECT published_at FROM videos'));
        self::assertStringContainsString(
            'a second time',
            $installation->run(['ingest', '--shift-to-now', $file])->message('database_not_empty'),
        );
    }

    #[Test]
    public function a_catalogue_without_observations_is_not_shifted(): void
    {
        $installation = Installation::migrated();
        $line = ['id' => 'v', 'regions' => ['GB'], 'title' => 'V', 'channel' => 'C'];
        $line += ['thumb_base' => 'https://t.example/v', 'published_at' => NdjsonLine::ago(3600)];
        $file = $installation->folder->write('a.ndjson', json_encode($line, JSON_THROW_ON_ERROR) . "\n");

        self::assertSame(ExitCode::Ok, $installation->run(['ingest', '--shift-to-now', $file])->exitCode);
        $published = $installation->rows('SELECT published_at FROM videos')[0]['published_at'];
        self::assertEqualsWithDelta(time() - 3600, $published, 60);
    }

    #[Test]
    public function what_is_no_observation_cannot_be_shifted_and_the_first_such_line_is_named(): void
    {
        $installation = Installation::migrated();
        $file = $installation->folder->write('a.ndjson', "Title,Views\nA,7\n");
        $result = $installation->run(['ingest', '--shift-to-now', $file]);

        self::assertSame(ExitCode::SourceFailed, $result->exitCode);
        self::assertStringContainsString(
            'Expected NDJSON, as docs/observations.md describes it',
            $result->message('failed'),
        );
        self::assertStringContainsString('Line 1: expected JSON', $result->message('failed'));
    }

    #[Test]
    public function a_source_that_stops_in_the_middle_of_a_line_is_reported_and_the_rest_is_stored(): void
    {
        $installation = Installation::migrated();
        $result = $installation->run(
            ['ingest', '-'],
            NdjsonLine::of(['observed_at' => NdjsonLine::ago(60)]) . "\n{\"id\": \"vid",
        );

        self::assertSame(ExitCode::SourceFailed, $result->exitCode);
        self::assertStringContainsString('ended in the middle of a line', $result->message('source_failed'));
        self::assertSame(1, $installation->value('SELECT count(*) FROM observations'));
        self::assertSame('cut_off', $installation->value('SELECT reason FROM rejections'));
    }

    #[Test]
    public function a_source_that_is_empty_missing_or_damaged_is_named_and_the_others_are_stored(): void
    {
        $installation = Installation::migrated();
        $good = $installation->folder->write(
            'good.ndjson',
            NdjsonLine::many([['observed_at' => NdjsonLine::ago(60)]]),
        );
        $empty = $installation->folder->write('empty.ndjson', '');
        $damaged = $installation->folder->write(
            'damaged.ndjson.gz',
            substr((string) gzencode(Draws::randomizer()->getBytes(5000)), 0, 3000),
        );
        $result = $installation->run(['ingest', '/no/such.ndjson', $empty, $damaged, $good]);

        self::assertSame(ExitCode::SourceFailed, $result->exitCode);
        $message = $result->message('source_failed');
        self::assertStringContainsString('/no/such.ndjson: there is no such file', $message);
        self::assertStringContainsString('empty.ndjson is empty', $message);
        self::assertStringContainsString('damaged.ndjson.gz to its end', $message);
        self::assertSame(1, $installation->value('SELECT count(*) FROM observations'));
    }

    #[Test]
    public function a_folder_is_read_file_by_file(): void
    {
        $installation = Installation::migrated();
        mkdir("{$installation->folder->path}/days");
        $installation->folder->write(
            'days/2.ndjson',
            NdjsonLine::many([['observed_at' => NdjsonLine::ago(60), 'views' => 20]]),
        );
        $installation->folder->write(
            'days/1.ndjson.gz',
            (string) gzencode(NdjsonLine::many([['observed_at' => NdjsonLine::ago(120), 'views' => 10]])),
        );
        $installation->folder->write('days/notes.txt', 'not ours');
        $result = $installation->run(['ingest', "{$installation->folder->path}/days"]);

        self::assertSame(ExitCode::Ok, $result->exitCode);
        self::assertSame(0, $installation->value('SELECT sum(late) FROM runs'));
        self::assertSame(2, $installation->value('SELECT observation_count FROM velocity'));
    }

    #[Test]
    public function rejected_lines_of_two_sources_of_one_name_are_in_separate_files(): void
    {
        $installation = Installation::migrated();
        $one = $installation->folder->write('views.ndjson', "first nonsense\n");
        $other = $installation->folder->write('views.ndjson.gz', (string) gzencode("second nonsense\n"));
        $installation->run(['ingest', $one, $other]);
        $kept = array_diff(
            glob("{$installation->folder->path}/rejected/*.ndjson"),
            glob("{$installation->folder->path}/rejected/*.report.ndjson"),
        );

        self::assertSame(
            ["second nonsense\n", "first nonsense\n"],
            array_values(array_map(file_get_contents(...), $kept)),
        );
    }

    #[Test]
    public function a_run_that_waits_for_its_input_has_the_lock_and_its_name_is_in_the_message(): void
    {
        $installation = Installation::migrated();
        $pipe = "{$installation->folder->path}/pipe";
        posix_mkfifo($pipe, 0o600);
        $waiting = new Process(
            ['/bin/sh', '-c', 'exec "$0" ingest - < "$1"', Installation::PROGRAM, $pipe],
            ['DB_PATH' => $installation->database],
        );
        $producer = fopen($pipe, 'wb');
        while (!str_contains((string) @file_get_contents("$installation->database.lock"), 'writer ingest')) {
            self::assertTrue($waiting->isRunning());
            usleep(1000);
        }
        $second = $installation->run(['cron']);

        self::assertSame(ExitCode::AlreadyRunning, $second->exitCode);
        self::assertMatchesRegularExpression('/writer ingest, process \d+, since/', $second->message());
        fwrite($producer, NdjsonLine::of(['observed_at' => NdjsonLine::ago(60)]) . "\n");
        fclose($producer);
        self::assertSame(ExitCode::Ok, $waiting->wait()->exitCode);
        self::assertSame(ExitCode::Ok, $installation->run(['cron'])->exitCode);
    }

    /** So that whoever follows a line from a file into the database has few of them to know. */
    #[Test]
    public function a_file_is_ingested_by_few_classes_of_the_writer(): void
    {
        $installation = Installation::migrated();
        $file = $installation->folder->write('a.ndjson', NdjsonLine::of() . "\n");
        $program = sprintf(
            <<<'PHP'
            register_shutdown_function(static function (): void {
                foreach ([...get_declared_classes(), ...get_declared_interfaces()] as $class) {
                    $path = (string) new ReflectionClass($class)->getFileName();
                    echo str_starts_with($path, %1$s) ? str_replace("\0", ' ', $class) . "\n" : '';
                }
            });
            require %1$s . '/main.php';
            PHP
            ,
            var_export(dirname(__DIR__, 2) . '/src', true),
        );
        $result = new Process(
            [PHP_BINARY, '-r', $program, 'ingest', $file],
            ['DB_PATH' => $installation->database],
        )->wait();
        $classes = array_filter(explode("\n", $result->output));

        self::assertSame(1, $installation->value('SELECT count(*) FROM observations'), $result->errors);
        self::assertContains(Application::class, $classes);
        self::assertLessThanOrEqual(self::MOST_CLASSES, count($classes), implode(', ', $classes));
    }
}
