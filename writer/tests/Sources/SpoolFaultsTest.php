<?php

declare(strict_types=1);

namespace TrendVault\Writer\Tests\Sources;

use PHPUnit\Framework\Attributes\DataProvider;
use PHPUnit\Framework\Attributes\Test;
use PHPUnit\Framework\TestCase;
use TrendVault\Writer\Cli\ExitCode;
use TrendVault\Writer\Sources\SourceFailure;
use TrendVault\Writer\Sources\SpoolFolder;
use TrendVault\Writer\Tests\Support\Installation;
use TrendVault\Writer\Tests\Support\NdjsonLine;

/** What may be in a spool folder, and what may happen to it while it is read. */
final class SpoolFaultsTest extends TestCase
{
    private Installation $installation;
    private string $spool;

    protected function setUp(): void
    {
        $this->installation = Installation::migrated();
        $this->useSpool('spool');
    }

    #[Test]
    public function a_new_file_of_the_same_name_as_the_one_that_is_read_is_read_by_the_next_run(): void
    {
        $this->put('a.ndjson', self::lines('old', 20_000));
        $run = $this->installation->start(['cron']);
        self::waitFor(fn(): bool => $this->in('reading') !== []);
        $this->put('a.ndjson', self::lines('new', 1));
        self::assertSame(ExitCode::Ok, $run->wait()->exitCode);
        self::assertSame(ExitCode::Ok, $this->installation->run(['cron'])->exitCode);

        self::assertSame(20_001, $this->installation->value('SELECT count(*) FROM observations'));
        self::assertCount(2, $this->in('done'));
    }

    #[Test]
    public function a_file_that_two_runs_died_of_is_rejected_by_name_and_the_others_are_read(): void
    {
        $this->put('a.ndjson', self::lines('a', 20_000));
        foreach ([1, 2] as $attempt) {
            $run = $this->installation->start(['cron']);
            self::waitFor(fn(): bool => str_starts_with($this->in('reading')[0] ?? '', "$attempt-"));
            $run->kill();
        }
        $this->put('b.ndjson', self::lines('b', 1));
        $result = $this->installation->run(['cron']);

        self::assertSame(ExitCode::SourceFailed, $result->exitCode);
        self::assertStringContainsString('2 runs died', $result->message('source_failed'));
        self::assertStringContainsString('-a.ndjson', $result->message('source_failed'));
        [$file, $report] = $this->in('rejected');
        self::assertStringEndsWith('-a.ndjson', $file);
        self::assertStringContainsString(
            '2 runs died',
            (string) file_get_contents("$this->spool/rejected/$report"),
        );
        self::assertSame(
            1,
            $this->installation->value("SELECT count(*) FROM observations WHERE video_id = 'b-0'"),
        );
        self::assertSame(ExitCode::Ok, $this->installation->run(['cron'])->exitCode);

        rename("$this->spool/rejected/$file", "$this->spool/a.ndjson");
        self::assertSame(ExitCode::Ok, $this->installation->run(['cron'])->exitCode);
        self::assertSame(20_001, $this->installation->value('SELECT count(*) FROM observations'));
    }

    #[Test]
    public function a_file_of_which_one_run_died_is_read_again(): void
    {
        $this->put('a.ndjson', self::lines('a', 20_000));
        $run = $this->installation->start(['cron']);
        self::waitFor(fn(): bool => $this->in('reading') !== []);
        $run->kill();

        self::assertSame(ExitCode::Ok, $this->installation->run(['cron'])->exitCode);
        self::assertSame(20_000, $this->installation->value('SELECT count(*) FROM observations'));
        self::assertSame([], $this->in('reading'));
        self::assertStringEndsWith('-a.ndjson', $this->in('done')[0]);
    }

    #[Test]
    public function a_file_that_the_database_does_not_take_stops_two_runs_and_not_the_third(): void
    {
        $this->installation->execute(
            "CREATE TRIGGER refuse BEFORE INSERT ON observations WHEN new.video_id = 'a-0' BEGIN SELECT raise(ABORT, 'no'); END",
        );
        $this->put('a.ndjson', self::lines('a', 1));
        $this->put('b.ndjson', self::lines('b', 1));
        $exitCodes = array_map(fn(): ExitCode => $this->installation->run(['cron'])->exitCode, range(1, 4));

        self::assertSame(
            [ExitCode::Internal, ExitCode::Internal, ExitCode::SourceFailed, ExitCode::Ok],
            $exitCodes,
        );
        self::assertSame(1, $this->installation->value('SELECT count(*) FROM observations'));
        self::assertStringEndsWith('-a.ndjson', $this->in('rejected')[0]);
    }

    #[Test]
    public function a_file_to_which_its_producer_still_writes_is_read_again(): void
    {
        $this->put('a.ndjson', self::lines('a', 1));
        $file = SpoolFolder::files($this->spool)[0];
        $file->claim();
        self::assertCount(1, iterator_to_array($file->lines()));
        file_put_contents("$this->spool/reading/{$this->in('reading')[0]}", self::lines('b', 1), FILE_APPEND);
        try {
            $file->settle(true);
            self::fail('it was moved');
        } catch (SourceFailure $failure) {
            self::assertStringContainsString('still being written', $failure->getMessage());
        }
        self::assertSame(ExitCode::Ok, $this->installation->run(['cron'])->exitCode);
        self::assertSame(2, $this->installation->value('SELECT count(*) FROM observations'));
    }

    #[Test]
    public function a_run_that_ends_because_of_the_disk_does_not_count_as_one_that_died(): void
    {
        $this->put('a.ndjson', self::lines('a', 1));
        for ($run = 0; $run < 5; $run++) {
            $file = SpoolFolder::files($this->spool)[0];
            $file->claim();
            self::assertStringStartsWith('1-', $this->in('reading')[0]);
            $file->release();
        }
        self::assertSame(ExitCode::Ok, $this->installation->run(['cron'])->exitCode);
        self::assertStringEndsWith('-a.ndjson', $this->in('done')[0]);
    }

    /** @return iterable<string, array{string}> */
    public static function odd(): iterable
    {
        foreach (
            ['folder', 'full folder', 'pipe', 'dangling link', 'link to a device', 'vain link']
            as $kind
        ) {
            yield $kind => [$kind];
        }
    }

    #[Test]
    #[DataProvider('odd')]
    public function what_is_no_file_is_rejected_with_a_word_and_the_others_are_read(string $kind): void
    {
        $path = "$this->spool/a.ndjson";
        match ($kind) {
            'folder' => mkdir($path),
            'full folder' => mkdir($path) && file_put_contents("$path/x", 'x'),
            'pipe' => posix_mkfifo($path, 0o600),
            'dangling link' => symlink('/no/such/file', $path),
            'link to a device' => symlink('/dev/zero', $path),
            'vain link' => symlink('a.ndjson', $path),
        };
        $this->put('b.ndjson', self::lines('b', 1));
        $result = $this->installation->run(['cron']);

        self::assertSame(ExitCode::SourceFailed, $result->exitCode);
        self::assertStringContainsString('a.ndjson', $result->message('source_failed'));
        self::assertSame(1, $this->installation->value('SELECT count(*) FROM observations'));
        self::assertCount(2, $this->in('rejected')); // with the report
        self::assertSame(ExitCode::Ok, $this->installation->run(['cron'])->exitCode);
    }

    #[Test]
    public function a_link_is_read_where_its_producer_put_it(): void
    {
        file_put_contents("{$this->installation->folder->path}/elsewhere", self::lines('b', 1));
        symlink('../elsewhere', "$this->spool/a.ndjson");

        self::assertSame(ExitCode::Ok, $this->installation->run(['cron'])->exitCode);
        self::assertSame(1, $this->installation->value('SELECT count(*) FROM observations'));
    }

    #[Test]
    public function a_pipe_in_a_folder_of_files_does_not_hang_the_run(): void
    {
        posix_mkfifo("$this->spool/a.ndjson", 0o600);
        $this->put('b.ndjson', self::lines('b', 1));
        $result = $this->installation->run(['ingest', $this->spool]);

        self::assertSame(ExitCode::SourceFailed, $result->exitCode);
        self::assertStringContainsString('expected a file', $result->message('source_failed'));
        self::assertSame(1, $this->installation->value('SELECT count(*) FROM observations'));
    }

    #[Test]
    public function names_may_be_long_or_have_any_bytes(): void
    {
        $names = [
            str_repeat('n', 243) . '.ndjson',
            str_repeat('ü', 120) . '.ndjson.gz',
            '[a]{b,c}*?.ndjson',
            "-rf \xff\x1b[2J\n.ndjson",
            "'\"\$(x);.ndjson",
        ];
        foreach ($names as $i => $name) {
            $this->put($name, self::lines("good$i", 1) . "nonsense\n");
        }

        self::assertSame(ExitCode::Ok, $this->installation->run(['cron'])->exitCode);
        self::assertSame(count($names), $this->installation->value('SELECT count(*) FROM observations'));
        self::assertCount(2 * count($names), $this->in('rejected'));
    }

    #[Test]
    public function the_spools_path_may_have_any_characters(): void
    {
        $this->useSpool('[s]p{o}o*l?');
        $this->put('a.ndjson', self::lines('a', 1));
        self::assertSame(ExitCode::Ok, $this->installation->run(['cron'])->exitCode);
        $this->put('b.ndjson', self::lines('b', 1));
        self::assertSame(ExitCode::Ok, $this->installation->run(['ingest', $this->spool])->exitCode);

        self::assertSame(2, $this->installation->value('SELECT count(*) FROM observations'));
    }

    #[Test]
    public function good_lines_are_stored_where_the_report_cannot_be_written(): void
    {
        file_put_contents("$this->spool/rejected", 'in the way');
        $this->put('a.ndjson', self::lines('a', 1) . "nonsense\n" . self::lines('b', 1));
        $result = $this->installation->run(['cron']);

        self::assertSame(ExitCode::SourceFailed, $result->exitCode);
        self::assertStringContainsString('next run reads the file again', $result->message('source_failed'));
        self::assertSame(2, $this->installation->value('SELECT count(*) FROM observations'));
        unlink("$this->spool/rejected");
        self::assertSame(ExitCode::Ok, $this->installation->run(['cron'])->exitCode);
        self::assertCount(2, $this->in('rejected'));
    }

    #[Test]
    public function a_spool_that_cannot_be_written_is_read_all_the_same(): void
    {
        file_put_contents("$this->spool/reading", 'in the way');
        $this->put('a.ndjson', self::lines('a', 1));
        $result = $this->installation->run(['cron']);

        self::assertSame(ExitCode::SourceFailed, $result->exitCode);
        self::assertStringContainsString('Cannot move', $result->message('source_failed'));
        self::assertSame(1, $this->installation->value('SELECT count(*) FROM observations'));
        self::assertFileExists("$this->spool/a.ndjson");
    }

    /** @return iterable<string, array{string}> a file of which the last line is good */
    public static function bombs(): iterable
    {
        yield 'gzip of line ends' => [str_repeat("\n", 1_000_000)];
        yield 'gzip of one line' => [str_repeat('x', 1_000_000)];
        yield 'gzip of NUL bytes' => [str_repeat("\0", 1_000_000)];
    }

    #[Test]
    #[DataProvider('bombs')]
    public function memory_is_bounded_whatever_comes(string $megabyte): void
    {
        $this->put('a.ndjson.gz', self::packed(50, $megabyte, "\n" . self::lines('a', 1)));
        $result = $this->installation->run(['cron']);

        self::assertSame(ExitCode::Ok, $result->exitCode);
        self::assertSame(1, $this->installation->value('SELECT count(*) FROM observations'));
    }

    #[Test]
    public function a_line_of_a_mebibyte_does_not_exhaust_memory_whatever_it_unfolds_to(): void
    {
        foreach (['[[],', '[[0],', '[{"":0},', '[{"a":{"b":[0]}},', '["ü",'] as $number => $piece) {
            $element = substr($piece, 1);
            $list = '[' . str_repeat($element, intdiv(1_048_000, strlen($element))) . '0]';
            $this->put("$number.ndjson", str_repeat("{\"id\":$list}\n", 9) . self::lines("v$number", 1));
        }
        self::assertSame(ExitCode::Ok, $this->installation->run(['cron'])->exitCode);
        self::assertSame(5, $this->installation->value('SELECT count(*) FROM observations'));
    }

    #[Test]
    public function a_report_names_the_first_thousand_lines_of_a_reason_and_counts_the_others(): void
    {
        $this->put('a.ndjson', str_repeat("{}\n", 20_000) . str_repeat("[]\n", 1000));
        $this->installation->run(['cron']);
        [, $report] = $this->in('rejected');
        $entries = array_map(
            static fn(string $line): array => json_decode($line, true, flags: JSON_THROW_ON_ERROR),
            file("$this->spool/rejected/$report"),
        );

        self::assertCount(2001, $entries);
        self::assertSame(['reason' => 'missing_field', 'further_lines' => 19_000], $entries[2000]);
        self::assertSame(
            20_000,
            $this->installation->value("SELECT line_count FROM rejections WHERE reason = 'missing_field'"),
        );
    }

    #[Test]
    public function lines_before_a_wrong_checksum_are_stored(): void
    {
        $packed = (string) gzencode(self::lines('a', 100));
        $packed[strlen($packed) - 6] = ~$packed[strlen($packed) - 6];
        $this->put('a.ndjson.gz', $packed);
        $result = $this->installation->run(['cron']);

        self::assertSame(ExitCode::SourceFailed, $result->exitCode);
        self::assertSame(100, $this->installation->value('SELECT count(*) FROM observations'));
        self::assertStringContainsString(
            'damaged',
            (string) file_get_contents("$this->spool/rejected/{$this->in('rejected')[1]}"),
        );
    }

    #[Test]
    public function a_log_that_cannot_be_written_does_not_end_the_run(): void
    {
        foreach (['2>/dev/full', '2>&-', '>&- 2>&-', '2>&1 | true'] as $run => $redirection) {
            $this->put('a.ndjson', self::lines("v$run", 1) . "nonsense\n");
            exec(
                'DB_PATH=' .
                    escapeshellarg($this->installation->database) .
                    ' SOURCES=' .
                    escapeshellarg("spool:$this->spool") .
                    ' bash -c ' .
                    escapeshellarg(Installation::PROGRAM . " cron $redirection; exit \${PIPESTATUS[0]}") .
                    ' 2>/dev/null',
                result_code: $exitCode,
            );
            self::assertSame(0, $exitCode, $redirection);
            self::assertSame($run + 1, $this->installation->value('SELECT count(*) FROM observations'));
        }
    }

    private function useSpool(string $name): void
    {
        $this->spool = "{$this->installation->folder->path}/$name";
        mkdir($this->spool);
        $this->installation->environment['SOURCES'] = "spool:$this->spool";
    }

    private function put(string $name, string $content): void
    {
        file_put_contents("$this->spool/.new", $content);
        rename("$this->spool/.new", "$this->spool/$name");
    }

    /** @return list<string> names, in their order */
    private function in(string $folder): array
    {
        return array_values(array_diff(@scandir("$this->spool/$folder") ?: [], ['.', '..']));
    }

    private static function lines(string $prefix, int $count): string
    {
        return NdjsonLine::many(
            array_map(
                static fn(int $i): array => ['id' => "$prefix-$i", 'observed_at' => NdjsonLine::ago(60)],
                range(0, $count - 1),
            ),
        );
    }

    private static function packed(int $times, string $part, string $end): string
    {
        $deflate = deflate_init(ZLIB_ENCODING_GZIP);
        $packed = '';
        for ($i = 0; $i < $times; $i++) {
            $packed .= deflate_add($deflate, $part, ZLIB_NO_FLUSH);
        }

        return $packed . deflate_add($deflate, $end, ZLIB_FINISH);
    }

    /** @param callable(): bool $condition */
    private static function waitFor(callable $condition): void
    {
        for ($end = microtime(true) + 30; !$condition(); usleep(1000)) {
            self::assertLessThan($end, microtime(true));
        }
    }
}
