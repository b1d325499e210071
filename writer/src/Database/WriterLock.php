<?php

declare(strict_types=1);

namespace TrendVault\Writer\Database;

use Closure;
use TrendVault\Writer\WriterException;

/**
 * One writing process per database: flock(2) on a file beside it, which the kernel releases
 * when the process ends, however it ends. SQLite before 3.51.3 may damage a WAL that two
 * connections write or checkpoint at once, so SQLite's own locks are not enough.
 * Give it resolve(): a link has another name, so that its lock would be another file.
 */
final class WriterLock
{
    private const int POLL_MICROSECONDS = 50_000;
    /** The holder writes its name right after it has the lock. */
    private const int POLLS_FOR_HOLDER = 20;

    /** As many as Linux follows, path_resolution(7). */
    private const int MAX_LINKS = 40;

    private const string GENERATION = 'generation %d';

    /** @param resource $file kept open: closing it releases the lock */
    private function __construct(private mixed $file, private int $lastGeneration) {}

    /**
     * @param int $timeoutSeconds how long to wait for a process that has the lock
     * @param ?Closure(int): void $sleep for microseconds; null for usleep()
     * @throws WriterException|DatabaseFailure also where root would make files that the database's owner cannot write
     */
    public static function acquire(
        string $databasePath,
        string $command,
        int $timeoutSeconds,
        ?Closure $sleep = null,
    ): self {
        $owner = (int) @fileowner(file_exists($databasePath) ? $databasePath : dirname($databasePath));
        if ($owner !== 0 && posix_geteuid() === 0) {
            throw DatabaseFailure::ofAnotherUser($databasePath, $owner);
        }
        $sleep ??= static fn(int $microseconds) => usleep(max(0, $microseconds));
        $path = "$databasePath.lock";
        if (file_exists($path) && !is_file($path)) {
            throw DatabaseFailure::cannotOpen($path); // A pipe would be waited for, and a device never ends.
        }
        // "e": a check of the database that outlives a killed cron must not keep the lock.
        $file = self::attempt(static fn(): mixed => fopen($path, 'c+en'), $databasePath);
        for (
            $polls = ($timeoutSeconds * 1_000_000) / self::POLL_MICROSECONDS;
            !flock($file, LOCK_EX | LOCK_NB);
            $polls--
        ) {
            if ($polls <= 0) {
                throw DatabaseFailure::heldBy(self::holder($file, $sleep), $databasePath);
            }
            $sleep(self::POLL_MICROSECONDS);
        }
        sscanf((string) strstr(self::read($file), 'generation '), self::GENERATION, $last);
        $lock = new self($file, (int) $last);
        self::attempt(
            static fn(): bool => $lock->write(
                sprintf("writer %s, process %d, since %s\n", $command, getmypid(), gmdate('Y-m-d\TH:i:s\Z')),
            ),
            $databasePath,
        );

        return $lock;
    }

    /**
     * The one name of a database file, which may have many: the lock and the log are beside that one. Follows symbolic
     * links, in the folder and of the file, as SQLite does. The file need not exist yet.
     *
     * @return string an absolute path; the path itself when its folder does not exist
     * @throws DatabaseFailure when the file has hard links, or is mounted under this name
     */
    public static function resolve(string $path): string
    {
        $resolved = self::followLinks($path);
        $stat = is_file($resolved) ? @stat($resolved) : false;
        $links = $stat === false ? 1 : $stat['nlink'];

        return match (true) {
            $links > 1 => throw DatabaseFailure::hardLinked($path, $links),
            $stat !== false && self::isMountPoint($resolved) => throw DatabaseFailure::mounted($path),
            default => $resolved,
        };
    }

    /**
     * The largest number that a generation was given under this lock, which a backup that was put in place by hand does not
     * know; 0 without any.
     */
    public function lastGeneration(): int
    {
        return $this->lastGeneration;
    }

    /** The next run gives larger numbers, even if another file is there by then. Is written when the lock is released. */
    public function keep(int $generation): void
    {
        $this->lastGeneration = $generation;
    }

    /** Takes its name out of the file first, so that the next holder is not taken for this one. */
    public function release(): void
    {
        $this->write('');
        flock($this->file, LOCK_UN);
        fclose($this->file);
    }

    /** In place: on a full disk the file keeps its block. */
    private function write(string $holder): bool
    {
        $text =
            $holder .
            ($this->lastGeneration > 0 ? sprintf(self::GENERATION, $this->lastGeneration) . "\n" : '');
        rewind($this->file);

        return fwrite($this->file, $text) === strlen($text) && ftruncate($this->file, strlen($text));
    }

    /** @param resource $file */
    private static function read(mixed $file): string
    {
        return (string) stream_get_contents($file, null, 0);
    }

    /**
     * @template T
     * @param Closure(): (T|false) $work
     * @return T
     * @throws DatabaseFailure that says why, when the work's result is false
     */
    private static function attempt(Closure $work, string $databasePath): mixed
    {
        $said = '';
        set_error_handler(static function (int $level, string $message) use (&$said): bool {
            $said = $message;

            return true;
        });
        try {
            return $work() ?: throw DatabaseFailure::cannotLock($databasePath, $said);
        } finally {
            restore_error_handler();
        }
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
            !str_starts_with($text = self::read($file), 'writer ') && $polls > 0;
            $polls--
        ) {
            $sleep(self::POLL_MICROSECONDS);
        }

        return str_starts_with($text, 'writer ') ? (string) strtok($text, "\n") : '';
    }

    /** By proc_pid_mountinfo(5), which Linux alone has. */
    private static function isMountPoint(string $path): bool
    {
        $written = strtr($path, [' ' => '\040', "\t" => '\011', "\n" => '\012', '\\' => '\134']);
        foreach (@file('/proc/self/mountinfo') ?: [] as $mount) {
            if ((explode(' ', $mount)[4] ?? '') === $written) {
                return true;
            }
        }

        return false;
    }

    private static function followLinks(string $path): string
    {
        for ($links = 0; is_link($path) && $links < self::MAX_LINKS; $links++) {
            $target = (string) readlink($path);
            $path = str_starts_with($target, '/') ? $target : dirname($path) . "/$target";
        }
        $folder = realpath(dirname($path));

        return $folder === false ? $path : rtrim($folder, '/') . '/' . basename($path);
    }
}
