<?php

declare(strict_types=1);

namespace TrendVault\Writer\Tests\Sources;

use PHPUnit\Framework\Attributes\DataProvider;
use PHPUnit\Framework\Attributes\Test;
use TrendVault\Writer\ExitCode;
use TrendVault\Writer\Tests\Support\Draws;
use TrendVault\Writer\Tests\Support\Installation;
use TrendVault\Writer\Tests\Support\NdjsonLine;
use TrendVault\Writer\Tests\Support\SmallDisk;

/** What may be in a spool folder, where it may be, and what becomes of it. */
final class SpoolEntriesTest extends SpoolTestCase
{
    /** @return iterable<string, array{string}> */
    public static function odd(): iterable
    {
        foreach (
            [
                'folder',
                'full folder',
                'pipe',
                'dangling link',
                'link to a device',
                'vain link',
                'link to memory',
                'link to what gives an error',
                'link to what has less than it says',
            ]
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
            'link to memory' => symlink('/proc/self/mem', $path),
            'link to what gives an error' => symlink('/sys/class/net/lo/speed', $path),
            'link to what has less than it says' => symlink('/sys/class/net/lo/mtu', $path),
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

    /** Its locks: opening such a file and closing it ends them, and the next program that opens the database empties its index. */
    #[Test]
    public function links_to_the_database_take_none_of_its_locks_away(): void
    {
        $this->put('a.ndjson', self::lines('a', 1));
        $this->installation->run(['cron']);
        foreach (['', '-shm', '-wal'] as $number => $suffix) {
            symlink("{$this->installation->database}$suffix", "$this->spool/a$number.ndjson");
        }
        $this->put('c.ndjson', self::lines('c', 20_000));
        touch("$this->spool/c.ndjson", time() + 60);
        $this->stayAt('c-10000');
        $run = $this->installation->start(['cron']);
        self::waitFor(fn(): bool => preg_grep('/-c\.ndjson$/D', $this->in('reading')) !== []);
        $isDeadMan = "/POSIX .* READ {$run->id()} .* 128 128$/"; // of https://sqlite.org/walformat.html
        $locks = (string) file_get_contents('/proc/locks');
        $run->kill();

        self::assertMatchesRegularExpression($isDeadMan . 'm', $locks);
        self::assertCount(6, $this->in('rejected'));
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
        file_put_contents($this->taken('rejected'), 'in the way');
        $this->put('a.ndjson', self::lines('a', 1) . "nonsense\n" . self::lines('b', 1));
        $result = $this->installation->run(['cron']);

        self::assertSame(ExitCode::SourceFailed, $result->exitCode);
        self::assertStringContainsString('next run reads the file again', $result->message('source_failed'));
        self::assertSame(2, $this->installation->value('SELECT count(*) FROM observations'));
        unlink($this->taken('rejected'));
        self::assertSame(ExitCode::Ok, $this->installation->run(['cron'])->exitCode);
        self::assertCount(2, $this->in('rejected'));
    }

    #[Test]
    public function a_spool_that_cannot_be_written_is_read_all_the_same(): void
    {
        file_put_contents($this->taken('reading'), 'in the way');
        $this->put('a.ndjson', self::lines('a', 1));
        $result = $this->installation->run(['cron']);

        self::assertSame(ExitCode::SourceFailed, $result->exitCode);
        self::assertStringContainsString("to {$this->taken('reading')}: ", $result->message('source_failed'));
        self::assertSame(1, $this->installation->value('SELECT count(*) FROM observations'));
        self::assertFileExists("$this->spool/a.ndjson");
    }

    #[Test]
    public function a_spool_from_which_a_move_would_be_a_copy_is_refused_and_the_others_are_read(): void
    {
        $disk = new SmallDisk();
        mkdir("$disk->path/spool");
        $this->put('a.ndjson', self::lines('a', 1));
        file_put_contents("$disk->path/b.ndjson", self::lines('b', 1));
        exec('mount --bind ' . escapeshellarg($this->spool) . ' ' . escapeshellarg("$disk->path/spool"));
        try {
            foreach ([$disk->path, "$disk->path/spool"] as $elsewhere) {
                $this->installation->environment['SOURCES'] = "spool:$elsewhere,spool:$this->spool";
                $result = $this->installation->run(['cron']);

                self::assertSame(ExitCode::SourceFailed, $result->exitCode);
                self::assertStringContainsString(
                    'another file system or mount',
                    $result->message('source_failed'),
                );
                self::assertSame(1, $this->installation->value('SELECT count(*) FROM observations'));
            }
        } finally {
            exec('umount -l ' . escapeshellarg("$disk->path/spool"));
        }
    }

    #[Test]
    public function a_spool_that_holds_the_database_is_refused(): void
    {
        foreach ([$this->installation->folder->path, dirname($this->installation->folder->path)] as $folder) {
            $result = $this->installation->run(['ingest', "spool:$folder"]);

            self::assertSame(ExitCode::SourceFailed, $result->exitCode);
            self::assertStringContainsString('the database is in it', $result->message('source_failed'));
        }
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

    #[Test]
    public function a_log_that_journald_does_not_take_holds_up_no_run(): void
    {
        $this->put('a.ndjson', self::lines('v', 1) . "nonsense\n");
        [$journald, $log] = stream_socket_pair(STREAM_PF_UNIX, STREAM_SOCK_STREAM, 0);
        stream_set_blocking($log, false);
        while ((int) @fwrite($log, str_repeat('x', 512)) > 0) {
            continue;
        }
        stream_set_blocking($log, true);
        $run = proc_open([Installation::PROGRAM, 'cron'], [2 => $log], $pipes, null, [
            ...getenv(),
            'DB_PATH' => $this->installation->database,
            ...$this->installation->environment,
        ]);

        self::assertSame(0, proc_close($run));
        self::assertSame(1, $this->installation->value('SELECT count(*) FROM observations'));
        fclose($journald);
    }

    #[Test]
    public function a_clean_file_is_ingested_once_and_moved_to_done(): void
    {
        $this->put('a.ndjson', NdjsonLine::many([['observed_at' => NdjsonLine::ago(60)]]));
        $this->put(
            'b.ndjson.gz',
            (string) gzencode(NdjsonLine::many([['id' => 'zipped', 'observed_at' => NdjsonLine::ago(60)]])),
        );

        self::assertSame(ExitCode::Ok, $this->installation->run(['cron'])->exitCode);
        self::assertSame(ExitCode::Ok, $this->installation->run(['cron'])->exitCode);
        self::assertSame(2, $this->installation->value('SELECT sum(accepted) FROM runs'));
        self::assertSame(0, $this->installation->value('SELECT sum(unchanged) FROM runs'));
        self::assertSame([], $this->waiting());
        self::assertCount(2, glob("{$this->taken('done')}/*"));
    }

    #[Test]
    public function a_file_with_bad_lines_is_moved_to_rejected_beside_a_report_and_its_good_lines_are_in(): void
    {
        $content = NdjsonLine::of(['observed_at' => NdjsonLine::ago(60)]) . "\nnonsense\n";
        $this->put('a.ndjson', $content);

        self::assertSame(ExitCode::Ok, $this->installation->run(['cron'])->exitCode);
        [$file, $report] = glob("{$this->taken('rejected')}/*");
        self::assertSame($content, file_get_contents($file));
        self::assertSame("$file.report.ndjson", $report);
        self::assertSame(
            ['line' => 2, 'reason' => 'not_json'],
            array_slice(json_decode((string) file_get_contents($report), true), 0, 2),
        );
        self::assertSame(1, $this->installation->value('SELECT count(*) FROM observations'));
    }

    #[Test]
    public function a_damaged_file_is_read_once_and_moved(): void
    {
        $random = Draws::randomizer();
        $zipped = (string) gzencode(
            NdjsonLine::many(
                array_map(
                    static fn(int $i): array => [
                        'id' => "v$i",
                        'observed_at' => NdjsonLine::ago(60),
                        'title' => bin2hex($random->getBytes(50)),
                    ],
                    range(1, 500),
                ),
            ),
        );
        $this->put('a.ndjson.gz', substr($zipped, 0, (int) (strlen($zipped) / 2)));
        $result = $this->installation->run(['cron']);

        self::assertSame(ExitCode::SourceFailed, $result->exitCode);
        self::assertStringContainsString('damaged or truncated', $result->message('source_failed'));
        self::assertGreaterThan(100, $this->installation->value('SELECT count(*) FROM observations'));
        self::assertSame([], $this->waiting());
        self::assertSame(ExitCode::Ok, $this->installation->run(['cron'])->exitCode);
    }

    #[Test]
    public function a_file_that_is_still_being_written_is_left_alone(): void
    {
        $this->put('.a.ndjson', 'half a li');
        $this->put('b.ndjson.part', 'half a li');

        self::assertSame(ExitCode::Ok, $this->installation->run(['cron'])->exitCode);
        self::assertCount(0, glob("{$this->taken('done')}/*"));
        self::assertFileExists("$this->spool/.a.ndjson");
    }

    #[Test]
    public function two_files_of_the_same_name_do_not_replace_each_other(): void
    {
        foreach ([60, 30] as $ago) {
            $this->put('a.ndjson', NdjsonLine::many([['observed_at' => NdjsonLine::ago($ago)]]));
            $this->installation->run(['cron']);
        }

        self::assertCount(2, glob("{$this->taken('done')}/*-a.ndjson"));
    }

    #[Test]
    public function a_file_whose_lines_were_stored_before_a_crash_is_only_moved(): void
    {
        $lines = NdjsonLine::of(['observed_at' => NdjsonLine::ago(60)]) . "\nnonsense\n";
        $this->put('a.ndjson', $lines);
        $this->installation->run(['cron']);
        [$moved, $report] = glob("{$this->taken('rejected')}/*");
        $firstReport = file_get_contents($report);
        // As after a kill between the commit and the move.
        rename($moved, "$this->spool/a.ndjson");
        $this->installation->run(['cron']);

        self::assertSame(1, $this->installation->value('SELECT count(*) FROM observations'));
        self::assertSame(1, $this->installation->value('SELECT observation_count FROM velocity'));
        self::assertSame([$moved, $report], glob("{$this->taken('rejected')}/*"));
        self::assertSame($firstReport, file_get_contents($report));
    }

    #[Test]
    public function a_missing_spool_folder_is_named(): void
    {
        $this->installation->environment['SOURCES'] = 'spool:/no/such/folder';
        $result = $this->installation->run(['cron']);

        self::assertSame(ExitCode::SourceFailed, $result->exitCode);
        self::assertStringContainsString('/no/such/folder', $result->message('source_failed'));
    }

    /** @return list<string> */
    private function waiting(): array
    {
        return glob("$this->spool/*.ndjson*") ?: [];
    }
}
