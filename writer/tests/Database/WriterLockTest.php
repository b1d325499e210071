<?php

declare(strict_types=1);

namespace TrendVault\Writer\Tests\Database;

use PHPUnit\Framework\Attributes\Test;
use PHPUnit\Framework\TestCase;
use TrendVault\Writer\Database\AlreadyRunning;
use TrendVault\Writer\Database\DatabaseFailure;
use TrendVault\Writer\Database\WriterLock;
use TrendVault\Writer\Tests\Support\Process;
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
    public function a_lock_that_is_not_signed_yet_is_asked_again_whose_it_is(): void
    {
        $file = fopen("$this->database.lock", 'c+');
        flock($file, LOCK_EX);
        $holder = new Process(
            ['/bin/sh', '-c', 'echo "writer rank, process 1" > "$0"', "$this->database.lock"],
            [],
        );

        $this->expectException(AlreadyRunning::class);
        $this->expectExceptionMessage('writer rank, process 1');
        try {
            WriterLock::acquire($this->database, 'cron', waitSeconds: 0);
        } finally {
            $holder->wait();
        }
    }

    #[Test]
    public function a_lock_that_is_given_back_names_nobody(): void
    {
        WriterLock::acquire($this->database, 'cron', waitSeconds: 0)->release();

        self::assertSame('', file_get_contents("$this->database.lock"));
    }

    #[Test]
    public function a_lock_file_that_cannot_be_opened_is_named(): void
    {
        mkdir("$this->database.lock");

        $this->expectException(DatabaseFailure::class);
        $this->expectExceptionMessage("Cannot open $this->database.lock");
        WriterLock::acquire($this->database, 'cron', waitSeconds: 0);
    }
}
