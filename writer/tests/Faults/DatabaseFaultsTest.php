<?php

declare(strict_types=1);

namespace TrendVault\Writer\Tests\Faults;

use PHPUnit\Framework\Attributes\Test;
use PHPUnit\Framework\Attributes\TestWith;
use PHPUnit\Framework\TestCase;
use SQLite3;
use TrendVault\Writer\ExitCode;
use TrendVault\Writer\Tests\Support\Installation;
use TrendVault\Writer\Tests\Support\NdjsonLine;
use TrendVault\Writer\Tests\Support\Process;
use TrendVault\Writer\Tests\Support\ProcessResult;

final class DatabaseFaultsTest extends TestCase
{
    #[Test]
    public function a_lock_of_another_process_is_named_and_nothing_is_stored(): void
    {
        $installation = Installation::migrated();
        $other = new SQLite3($installation->database);
        $other->exec('BEGIN IMMEDIATE');
        $result = $installation->run(
            ['ingest', '-'],
            NdjsonLine::of(['observed_at' => NdjsonLine::ago(60)]) . "\n",
        );

        self::assertSame(ExitCode::DatabaseBusy, $result->exitCode);
        self::assertStringContainsString('another process holds a lock', $result->message());
        $other->exec('ROLLBACK');
        self::assertSame(
            ExitCode::Ok,
            $installation->run(['ingest', '-'], NdjsonLine::of(['observed_at' => NdjsonLine::ago(60)]) . "\n")
                ->exitCode,
        );
    }

    #[Test]
    public function a_read_only_file_is_named(): void
    {
        $installation = Installation::migrated();
        $installation->run(['prune']);
        chmod($installation->folder->path, 0o777);
        chmod("$installation->database.lock", 0o666);
        chmod($installation->database, 0o444);
        $result = self::runWithoutPrivileges($installation, ['rank']);

        self::assertSame(ExitCode::DatabaseUnavailable, $result->exitCode);
        self::assertStringContainsString('read-only for this user', $result->message());
    }

    #[Test]
    public function a_folder_that_may_not_be_written_to_is_named(): void
    {
        $installation = new Installation();
        chmod($installation->folder->path, 0o555);
        $result = self::runWithoutPrivileges($installation, ['migrate']);

        self::assertSame(ExitCode::DatabaseUnavailable, $result->exitCode);
        self::assertStringContainsString(
            "permission denied to write to the folder {$installation->folder->path}",
            $result->message(),
        );
    }

    #[Test]
    public function root_writes_nothing_beside_a_database_of_another_user(): void
    {
        if (posix_getuid() !== 0) {
            self::markTestSkipped('only root can be told so, and this user is none');
        }
        $migrated = Installation::migrated();
        chown($migrated->database, 65_534);
        $new = new Installation();
        chown($new->folder->path, 65_534);
        foreach (
            [[$migrated, ['cron']], [$migrated, ['ingest', 'demo']], [$new, ['migrate']]]
            as [$it, $words]
        ) {
            $before = scandir($it->folder->path);
            $result = $it->run($words);

            self::assertSame(ExitCode::DatabaseUnavailable, $result->exitCode);
            self::assertStringContainsString('as root', $result->message());
            self::assertSame($before, scandir($it->folder->path));
        }
    }

    #[Test]
    public function a_missing_folder_is_named(): void
    {
        foreach ([['migrate'], ['cron'], ['rank'], ['status']] as $command) {
            $result = new Installation()->run([...$command, '--db', '/no/such/folder/x.db']);

            self::assertSame(ExitCode::DatabaseUnavailable, $result->exitCode);
            self::assertStringContainsString('/no/such/folder', $result->message());
        }
    }

    #[Test]
    public function a_file_that_is_no_database_is_left_as_it_is(): void
    {
        $installation = new Installation();
        $content = str_repeat('Not a database. ', 500);
        file_put_contents($installation->database, $content);
        $result = $installation->run(['cron']);

        self::assertSame(ExitCode::DatabaseUnavailable, $result->exitCode);
        self::assertStringContainsString('not an SQLite database', $result->message());
        self::assertSame($content, file_get_contents($installation->database));
    }

    #[Test]
    #[TestWith([''])]
    #[TestWith(['.lock'])]
    #[TestWith(['-journal'])]
    public function no_command_waits_for_a_pipe_in_a_files_place(string $suffix): void
    {
        $installation = Installation::migrated();
        @unlink($installation->database . $suffix);
        posix_mkfifo($installation->database . $suffix, 0o600);
        foreach (['cron', 'rank', 'check', 'status'] as $command) {
            $result = $installation->run([$command]);

            $isRead = $suffix === '.lock' && in_array($command, ['check', 'status'], true);
            self::assertSame(
                $isRead ? ExitCode::Ok : ExitCode::DatabaseUnavailable,
                $result->exitCode,
                $command,
            );
            if (!$isRead) {
                self::assertStringContainsString("$suffix: expected a file", $result->message());
            }
        }
    }

    #[Test]
    public function a_migration_that_was_changed_after_it_was_applied_stops_every_command_that_writes(): void
    {
        $installation = Installation::migrated();
        $installation->execute("UPDATE schema_migrations SET checksum = 'other'");

        foreach (['migrate', 'cron', 'rank', 'prune'] as $command) {
            $result = $installation->run([$command]);
            self::assertSame(ExitCode::SchemaMismatch, $result->exitCode);
            self::assertStringContainsString(
                '0027_base was changed after it was applied (checksum differs)',
                $result->message(),
            );
        }
    }

    #[Test]
    public function a_schema_that_is_newer_than_the_writer_is_not_touched(): void
    {
        $installation = Installation::migrated();
        $installation->execute(
            "INSERT INTO schema_migrations SELECT version + 1, 'of_tomorrow', 'x', 0 FROM schema_migrations ORDER BY version DESC LIMIT 1",
        );
        $result = $installation->run(['cron']);

        self::assertSame(ExitCode::SchemaMismatch, $result->exitCode);
        self::assertStringContainsString('Upgrade the writer', $result->message());
    }

    #[Test]
    public function a_database_of_another_program_is_not_migrated(): void
    {
        $installation = new Installation();
        $installation->execute('CREATE TABLE shopping (item TEXT)');
        $result = $installation->run(['migrate']);

        self::assertSame(ExitCode::SchemaMismatch, $result->exitCode);
        self::assertSame(1, $installation->value('SELECT count(*) FROM sqlite_schema'));
    }

    #[Test]
    public function a_clock_that_was_set_back_publishes_nothing_until_it_is_right_or_rank_at_now_is_run(): void
    {
        $installation = self::withOneGeneration();
        $installation->execute('UPDATE generations SET published_at = ' . time() . ' + 3600');
        $result = $installation->run(['cron']);

        self::assertSame(ExitCode::ClockBackwards, $result->exitCode);
        self::assertStringContainsString('the clock says', $result->message());
        self::assertSame(1, $installation->value('SELECT count(*) FROM generations'));
        self::assertSame(ExitCode::Ok, $installation->run(['rank', '--at', 'now'])->exitCode);
        self::assertSame(ExitCode::Ok, $installation->run(['cron'])->exitCode);
    }

    #[Test]
    public function a_clock_that_was_set_back_a_little_never_makes_a_generation_older_than_the_one_before(): void
    {
        $installation = self::withOneGeneration();
        $ahead = time() + 299; // A second below what is tolerated.
        $installation->execute("UPDATE generations SET published_at = $ahead");

        self::assertSame(ExitCode::Ok, $installation->run(['rank'])->exitCode);
        self::assertSame(
            $ahead,
            $installation->value('SELECT published_at FROM generations ORDER BY id DESC LIMIT 1'),
        );
    }

    private static function withOneGeneration(): Installation
    {
        $installation = Installation::migrated();
        $installation->run(['ingest', '-'], NdjsonLine::of(['observed_at' => NdjsonLine::ago(60)]) . "\n");
        $installation->run(['rank']);

        return $installation;
    }

    /**
     * Permissions mean nothing to root.
     *
     * @param list<string> $words
     */
    private static function runWithoutPrivileges(Installation $installation, array $words): ProcessResult
    {
        if (posix_getuid() !== 0) {
            return $installation->run($words);
        }
        // Root without capabilities: files are closed to it as to any owner, and the project may be in its home.
        $drop = ['setpriv', '--bounding-set=-all', '--inh-caps=-all'];
        $program = dirname(__DIR__, 2) . '/bin/writer';

        return new Process([...$drop, $program, ...$words], ['DB_PATH' => $installation->database])->wait();
    }
}
