<?php

declare(strict_types=1);

namespace TrendVault\Writer\Database;

use Closure;

/**
 * One writing process per database: flock(2) on a file beside it, which the kernel releases
 * when the process ends, however it ends. SQLite before 3.51.3 may damage a WAL that two
 * connections write or checkpoint at once, so SQLite's own locks are not enough.
 */
final class WriterLock
{
    private const int POLL_MICROSECONDS = 50_000;
    /** The holder writes its name right after it has the lock. */
    private const int POLLS_FOR_HOLDER = 20;

    /** @param resource $file kept open: closing it releases the lock */
    private function __construct(private mixed $file) {}

    /**
     * @param int $timeoutSeconds how long to wait for a process that has the lock
     * @param ?Closure(int): void $sleep for microseconds; null for usleep()
     * @throws AlreadyRunning|DatabaseFailure
     */
    public static function acquire(
        string $databasePath,
        string $command,
        int $timeoutSeconds,
        ?Closure $sleep = null,
    ): self {
        $sleep ??= usleep(...);
        $path = "$databasePath.lock";
        $file = @fopen($path, 'c+') ?: throw DatabaseFailure::cannotLock($databasePath);
        for (
            $polls = ($timeoutSeconds * 1_000_000) / self::POLL_MICROSECONDS;
            !flock($file, LOCK_EX | LOCK_NB);
            $polls--
        ) {
            if ($polls <= 0) {
                throw AlreadyRunning::heldBy(self::holder($file, $sleep), $databasePath);
            }
            $sleep(self::POLL_MICROSECONDS);
        }
        ftruncate($file, 0);
        fwrite(
            $file,
            sprintf("writer %s, process %d, since %s\n", $command, getmypid(), gmdate('Y-m-d\TH:i:s\Z')),
        );

        return new self($file);
    }

    /** Empties the file first, so that the next holder is not taken for this one. */
    public function release(): void
    {
        ftruncate($this->file, 0);
        flock($this->file, LOCK_UN);
        fclose($this->file);
    }

    /**
     * What the holder wrote about itself; '' when it did not write in time.
     *
     * @param resource $file
     * @param Closure(int): void $sleep
     */
    private static function holder(mixed $file, Closure $sleep): string
    {
        for (
            $polls = self::POLLS_FOR_HOLDER;
            ($text = trim((string) stream_get_contents($file, null, 0))) === '' && $polls > 0;
            $polls--
        ) {
            $sleep(self::POLL_MICROSECONDS);
        }

        return $text;
    }
}
