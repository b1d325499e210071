<?php

declare(strict_types=1);

namespace TrendVault\Writer\Tests\Database;

use PHPUnit\Framework\Attributes\Test;
use PHPUnit\Framework\TestCase;
use TrendVault\Writer\Database\DatabaseFailure;
use TrendVault\Writer\Database\WriterLock;
use TrendVault\Writer\ExitCode;
use TrendVault\Writer\Tests\Support\Installation;
use TrendVault\Writer\Tests\Support\TemporaryFolder;

final class WriterLockTest extends TestCase
{
    private TemporaryFolder $folder;
    private string $database;

    protected function setUp(): void
    {
        $this->folder = new TemporaryFolder();
        $this->database = "{$this->folder->path}/test.db";
    }

    #[Test]
    public function a_holder_that_has_not_written_its_name_yet_is_given_time_to(): void
    {
        $file = fopen("$this->database.lock", 'c+');
        flock($file, LOCK_EX);
        $writeName = static fn(): int => (int) fwrite($file, 'writer rank, process 1');

        $this->expectException(DatabaseFailure::class);
        $this->expectExceptionMessage('writer rank, process 1');
        WriterLock::acquire($this->database, 'cron', timeoutSeconds: 0, sleep: $writeName);
    }

    #[Test]
    public function a_released_lock_names_no_holder(): void
    {
        WriterLock::acquire($this->database, 'cron', timeoutSeconds: 0)->release();

        self::assertSame('', file_get_contents("$this->database.lock"));
    }

    #[Test]
    public function a_process_that_the_holder_starts_does_not_hold_the_lock_too(): void
    {
        $holder = WriterLock::acquire($this->database, 'cron', timeoutSeconds: 0);
        $process = proc_open(['ls', '-l', '/proc/self/fd'], [1 => ['pipe', 'w']], $pipes);
        self::assertIsResource($process);
        $openFiles = (string) stream_get_contents($pipes[1]);
        proc_close($process);
        $holder->release();

        self::assertStringContainsString('pipe:', $openFiles);
        self::assertStringNotContainsString('test.db.lock', $openFiles);
    }

    #[Test]
    public function a_lock_file_that_cannot_be_opened_is_named(): void
    {
        mkdir("$this->database.lock");

        $this->expectException(DatabaseFailure::class);
        $this->expectExceptionMessage("Cannot open $this->database.lock");
        WriterLock::acquire($this->database, 'cron', timeoutSeconds: 0);
    }

    #[Test]
    public function two_writers_that_name_the_file_by_different_links_do_not_work_at_once(): void
    {
        $path = $this->folder->path;
        $names = ["$path/link.db", "$path/chain.db", "$path/folder/test.db", "$path/./test.db"];
        symlink('test.db', $names[0]);
        symlink("$path/link.db", $names[1]);
        symlink($path, "$path/folder");

        foreach (['before', 'after'] as $time) {
            // The first run makes the file.
            foreach ($names as $name) {
                self::assertSame(realpath($path) . '/test.db', WriterLock::resolve($name), "$name, $time");
            }
            file_put_contents($this->database, 'something');
        }
        $holder = WriterLock::acquire($this->database, 'cron', timeoutSeconds: 0);
        foreach ($names as $name) {
            $other = new Installation([], $name, $this->folder)->run(['cron']);
            self::assertSame(ExitCode::AlreadyRunning, $other->exitCode, $name);
        }
        $holder->release();
    }

    #[Test]
    public function a_database_with_hard_links_is_refused(): void
    {
        touch($this->database);
        link($this->database, "{$this->folder->path}/other.db");

        $this->expectException(DatabaseFailure::class);
        $this->expectExceptionMessage('has 2 names (hard links)');
        WriterLock::resolve($this->database);
    }

    #[Test]
    public function a_database_that_is_mounted_under_another_name_is_refused_there(): void
    {
        touch($this->database);
        $mounted = "{$this->folder->path}/other name.db";
        touch($mounted);
        $command = 'mount --bind ' . escapeshellarg($this->database) . ' ' . escapeshellarg($mounted);
        exec("$command 2>&1", $output, $failed);
        if ($failed !== 0) {
            self::markTestSkipped('this user may not mount a file: ' . implode(' ', $output));
        }
        try {
            $this->expectException(DatabaseFailure::class);
            $this->expectExceptionMessage('the file itself is a mount point');
            WriterLock::resolve($mounted);
        } finally {
            exec('umount ' . escapeshellarg($mounted));
        }
    }

    #[Test]
    public function numbers_of_generations_go_on_when_an_older_file_is_put_in_place_by_hand(): void
    {
        $installation = Installation::migrated();
        $publish = static function () use ($installation): int {
            self::assertSame(ExitCode::Ok, $installation->run(['rank', '--allow-empty'])->exitCode);

            return (int) $installation->value('SELECT max(id) FROM generations');
        };
        $installation->run(['ingest', 'demo']);
        self::assertSame(1, $publish());
        $installation->execute("VACUUM INTO '$installation->database.old'");
        self::assertSame([2, 3], [$publish(), $publish()]);

        array_map(unlink(...), glob("$installation->database{,-wal,-shm}", GLOB_BRACE));
        rename("$installation->database.old", $installation->database);

        self::assertSame([4, 5], [$publish(), $publish()]);
    }
}
