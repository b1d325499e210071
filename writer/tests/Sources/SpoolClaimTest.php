<?php

declare(strict_types=1);

namespace TrendVault\Writer\Tests\Sources;

use PHPUnit\Framework\Attributes\Test;
use PHPUnit\Framework\Attributes\TestWith;
use TrendVault\Writer\Database\Database;
use TrendVault\Writer\Database\DatabaseFailure;
use TrendVault\Writer\ExitCode;
use TrendVault\Writer\Ingest\ObservationStore;
use TrendVault\Writer\Ingest\SourceIngestion;
use TrendVault\Writer\Observations\ObservationParser;
use TrendVault\Writer\Sources\SourceFailure;
use TrendVault\Writer\Sources\SpoolFile;
use TrendVault\Writer\Sources\SpoolFolder;
use TrendVault\Writer\Sources\TakenFiles;
use TrendVault\Writer\Tests\Support\Draws;
use TrendVault\Writer\Tests\Support\MigratedDatabase;

/** What may happen to a file of a spool folder, and to the run, while the run reads it. */
final class SpoolClaimTest extends SpoolTestCase
{
    #[Test]
    public function a_new_file_of_the_same_name_as_the_one_that_is_read_is_read_by_the_next_run(): void
    {
        $this->put('a.ndjson', self::lines('old', 20_000));
        $run = $this->installation->start(['cron']);
        self::waitFor(fn(): bool => $this->in('reading') !== [] || !$run->isRunning());
        $this->put('a.ndjson', self::lines('new', 1));
        self::assertSame(ExitCode::Ok, $run->wait()->exitCode);
        self::assertSame(ExitCode::Ok, $this->installation->run(['cron'])->exitCode);

        self::assertSame(20_001, $this->installation->value('SELECT count(*) FROM observations'));
        self::assertCount(2, $this->in('done'));
    }

    #[Test]
    public function a_file_that_three_runs_died_of_waits_for_a_last_one_and_is_rejected_by_name(): void
    {
        $this->put('a.ndjson', self::lines('a', 20_000));
        $this->dieOf(1, 2);
        $this->put('b.ndjson', self::lines('b', 1));
        touch("$this->spool/b.ndjson", time() + 60);
        $this->dieOf(3);
        self::assertStringEndsWith('-b.ndjson', $this->in('done')[0]);
        self::assertSame(ExitCode::Ok, $this->installation->run(['cron'])->exitCode);
        self::assertSame([], $this->files(time() + 3000));
        self::assertCount(1, $this->files(time() - 3601), 'a clock that was ahead makes it wait no longer');
        $this->files(time() + 3601)[0]->claim();
        $this->goOn();
        $result = $this->installation->run(['cron']);

        self::assertSame(ExitCode::SourceFailed, $result->exitCode);
        self::assertStringContainsString('4 runs died', $result->message('source_failed'));
        self::assertStringContainsString('-a.ndjson', $result->message('source_failed'));
        [$file, $report] = $this->in('rejected');
        self::assertStringEndsWith('-a.ndjson', $file);
        self::assertStringContainsString(
            '4 runs died',
            (string) file_get_contents("{$this->taken('rejected')}/$report"),
        );
        self::assertSame(
            1,
            $this->installation->value("SELECT count(*) FROM observations WHERE video_id = 'b-0'"),
        );
        self::assertSame(ExitCode::Ok, $this->installation->run(['cron'])->exitCode);

        rename("{$this->taken('rejected')}/$file", "$this->spool/a.ndjson");
        self::assertSame(ExitCode::Ok, $this->installation->run(['cron'])->exitCode);
        self::assertSame(20_001, $this->installation->value('SELECT count(*) FROM observations'));
    }

    #[Test]
    #[TestWith([1])]
    #[TestWith([2])]
    public function a_good_file_of_which_runs_died_is_read_again(int $deaths): void
    {
        $this->put('a.ndjson', self::lines('a', 20_000));
        $this->dieOf(...range(1, $deaths));
        $this->goOn();

        self::assertSame(ExitCode::Ok, $this->installation->run(['cron'])->exitCode);
        self::assertSame(20_000, $this->installation->value('SELECT count(*) FROM observations'));
        self::assertSame([], $this->in('reading'));
        self::assertStringEndsWith('-a.ndjson', $this->in('done')[0]);
    }

    #[Test]
    public function a_file_that_the_database_does_not_take_stops_three_runs_and_not_the_fourth(): void
    {
        $this->installation->execute(
            "CREATE TRIGGER refuse BEFORE INSERT ON observations WHEN new.video_id = 'a-0' BEGIN SELECT raise(ABORT, 'no'); END",
        );
        $this->put('a.ndjson', self::lines('a', 1));
        $this->put('b.ndjson', self::lines('b', 1));
        $exitCodes = array_map(fn(): ExitCode => $this->installation->run(['cron'])->exitCode, range(1, 4));

        self::assertSame(
            [ExitCode::Internal, ExitCode::Internal, ExitCode::Internal, ExitCode::Ok],
            $exitCodes,
        );
        self::assertSame(1, $this->installation->value('SELECT count(*) FROM observations'));
        self::assertCount(1, $this->files(time() + 3601));
    }

    #[Test]
    public function a_file_to_which_its_producer_still_writes_is_read_again(): void
    {
        $this->put('a.ndjson', self::lines('a', 1));
        $file = $this->files(time())[0];
        $file->claim();
        self::assertCount(1, iterator_to_array($file->lines()));
        file_put_contents(
            "{$this->taken('reading')}/{$this->in('reading')[0]}",
            self::lines('b', 1),
            FILE_APPEND,
        );
        self::assertIsStillWritten($file);
        self::assertSame(ExitCode::Ok, $this->installation->run(['cron'])->exitCode);
        self::assertSame(2, $this->installation->value('SELECT count(*) FROM observations'));
    }

    #[Test]
    public function a_file_that_its_producer_begins_anew_while_it_is_read_is_read_again(): void
    {
        $this->put('a.ndjson', self::lines('a', 20_000));
        $file = $this->files(time())[0];
        $file->claim();
        $read = 0;
        foreach ($file->lines() as $_) {
            if ($read++ === 0) {
                $path = "{$this->taken('reading')}/{$this->in('reading')[0]}";
                file_put_contents($path, self::lines('b', 1));
            }
        }
        self::assertLessThan(20_000, $read);
        self::assertIsStillWritten($file);
        self::assertSame(ExitCode::Ok, $this->installation->run(['cron'])->exitCode);
        self::assertSame(1, $this->installation->value('SELECT count(*) FROM observations'));
    }

    #[Test]
    public function a_file_stays_where_the_database_is_replaced_before_its_lines_are_committed(): void
    {
        $this->put('a.ndjson', self::lines('a', 10));
        copy($this->installation->database, "{$this->installation->folder->path}/backup");
        $database = Database::openForWriting($this->installation->database);
        $run = MigratedDatabase::beginRun($database);
        $parser = new ObservationParser(['GB' => true], time());
        rename("{$this->installation->folder->path}/backup", $this->installation->database);
        try {
            $store = new ObservationStore($database, time());
            new SourceIngestion($database, $run, $parser, $store, 'nowhere')->ingest(
                $this->files(time())[0],
                static fn(?float $share) => null,
            );
            self::fail('its lines went into a file that nobody reads');
        } catch (DatabaseFailure $failure) {
            self::assertStringContainsString('another file has its name', $failure->getMessage());
        }
        $database->close();
        self::assertStringStartsWith('0-', $this->in('reading')[0]);
        self::assertSame(ExitCode::Ok, $this->installation->run(['cron'])->exitCode);
        self::assertSame(10, $this->installation->value('SELECT count(*) FROM observations'));
    }

    #[Test]
    public function a_run_that_ends_because_of_the_disk_does_not_count_as_one_that_died(): void
    {
        $this->put('a.ndjson', self::lines('a', 1));
        for ($run = 0; $run < 5; $run++) {
            $file = $this->files(time())[0];
            $file->claim();
            self::assertStringStartsWith('1-', $this->in('reading')[0]);
            $file->release();
        }
        self::assertSame(ExitCode::Ok, $this->installation->run(['cron'])->exitCode);
        self::assertStringEndsWith('-a.ndjson', $this->in('done')[0]);
    }

    #[Test]
    public function of_more_files_than_a_run_takes_the_oldest_are_read_oldest_first(): void
    {
        $now = time();
        foreach (Draws::randomizer()->shuffleArray(range(1, 10_050)) as $age) {
            touch("$this->spool/$age.ndjson", $now - $age);
        }
        $names = array_map(static fn(SpoolFile $file): string => $file->name(), $this->files($now));

        self::assertSame(implode(' ', range(10_050, 51)), implode(' ', $names));
    }

    private static function assertIsStillWritten(SpoolFile $file): void
    {
        try {
            $file->settle(true);
            self::fail('it was moved');
        } catch (SourceFailure $failure) {
            self::assertStringContainsString('still being written', $failure->getMessage());
        }
    }

    /** @return list<SpoolFile> */
    private function files(int $now): array
    {
        return SpoolFolder::files(
            $this->spool,
            new TakenFiles($this->installation->database, $this->taken('rejected')),
            $now,
        );
    }

    /** Runs that are killed in the middle of a.ndjson; the numbers count its deaths. */
    private function dieOf(int ...$deaths): void
    {
        $this->goOn();
        $this->stayAt('a-10000');
        foreach ($deaths as $death) {
            $run = $this->installation->start(['cron']);
            self::waitFor(fn(): bool => preg_grep("/^$death-.*-a\.ndjson$/D", $this->in('reading')) !== []);
            $run->kill();
        }
    }

    private function goOn(): void
    {
        $this->installation->execute('DROP TRIGGER IF EXISTS stay');
    }
}
