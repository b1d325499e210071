<?php

declare(strict_types=1);

namespace TrendVault\Writer\Database;

/**
 * One writing process per database: flock(2) on a file beside it, which the kernel gives back
 * when the process ends, however it ends. SQLite before 3.51.3 may damage a WAL that two
 * connections write or checkpoint at once, so SQLite's own locks are not enough.
 */
final class WriterLock
{
    private const int POLL_MICROSECONDS = 50_000;

    /** @param resource $file kept open: closing it gives the lock back */
    private function __construct(private mixed $file)
    {
    }

    /** @throws AlreadyRunning|DatabaseFailure */
    public static function acquire(string $databasePath, string $command, int $waitSeconds): self
    {
        $path = "$databasePath.lock";
        $file = @fopen($path, 'c+') ?: throw DatabaseFailure::cannotOpen($databasePath);
        for ($polls = $waitSeconds * 1_000_000 / self::POLL_MICROSECONDS; !flock($file, LOCK_EX | LOCK_NB); $polls--) {
            if ($polls <= 0) {
                throw AlreadyRunning::as(trim((string) stream_get_contents($file)), $databasePath);
            }
            usleep(self::POLL_MICROSECONDS);
        }
        ftruncate($file, 0);
        fwrite($file, sprintf("writer %s, process %d, since %s\n", $command, getmypid(), gmdate('Y-m-d\TH:i:s\Z')));

        return new self($file);
    }

    public function release(): void
    {
        flock($this->file, LOCK_UN);
        fclose($this->file);
    }
}
