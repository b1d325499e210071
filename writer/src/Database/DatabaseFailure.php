<?php

declare(strict_types=1);

namespace TrendVault\Writer\Database;

use SQLite3Exception;
use TrendVault\Writer\ExitCode;
use TrendVault\Writer\WriterException;

/** Turns SQLite's result codes (https://sqlite.org/rescode.html) into advice for the operator. */
final class DatabaseFailure extends WriterException
{
    private const int BUSY = 5;
    private const int LOCKED = 6;
    private const int READ_ONLY = 8;
    private const int IO_ERROR = 10;
    private const int CORRUPT = 11;
    private const int FULL = 13;
    private const int CANNOT_OPEN = 14;
    private const int NOT_A_DATABASE = 26;
    private const int NO_SPACE = 28; // ENOSPC, which PHP does not name

    /** @param string $path of the database, for the message */
    public static function from(SQLite3Exception $error, string $path): self
    {
        [$code, $sentence] = match ((int) $error->getCode() & 0xff) {
            self::BUSY, self::LOCKED => [
                ExitCode::DatabaseBusy,
                "Cannot write $path: another process holds a lock on it. The unfinished transaction was rolled back; run the command again when that process has ended.",
            ],
            self::FULL => self::diskFull($path),
            self::READ_ONLY => [
                ExitCode::DatabaseUnavailable,
                "Cannot write $path: the file or its folder is read-only for this user.",
            ],
            self::IO_ERROR => self::inputOutput($error, $path),
            self::CANNOT_OPEN => self::takesNoFile($path)
                ? self::diskFull($path)
                : [ExitCode::DatabaseUnavailable, self::whyNotOpened($path)],
            self::CORRUPT => [
                ExitCode::DatabaseUnavailable,
                "Cannot use $path: the file is damaged ({$error->getMessage()}). Restore a backup, see docs/operations.md.",
            ],
            self::NOT_A_DATABASE => [
                ExitCode::DatabaseUnavailable,
                "Cannot use $path: it is not an SQLite database.",
            ],
            default => [
                ExitCode::Internal,
                "Cannot use $path: {$error->getMessage()} (SQLite result code {$error->getCode()}).",
            ],
        };

        return new self($sentence, $code, $error);
    }

    /** Says why, as far as the folder and the file show it. */
    public static function cannotOpen(string $path): self
    {
        return new self(self::whyNotOpened($path), ExitCode::DatabaseUnavailable);
    }

    /**
     * @param string $path of the database
     * @param string $said PHP's message about the lock file
     */
    public static function cannotLock(string $path, string $said): self
    {
        if (str_contains($said, 'No space left on device') || str_contains($said, 'errno=28')) {
            [$code, $sentence] = self::diskFull($path);

            return new self($sentence, $code);
        }

        return file_exists("$path.lock")
            ? new self(
                "Cannot open $path.lock: permission denied. Run all commands of the writer as the same user.",
                ExitCode::DatabaseUnavailable,
            )
            : self::cannotOpen($path);
    }

    public static function missing(string $path): self
    {
        return new self(
            "There is no database at $path: mount its volume, set DB_PATH, or make a new one with `writer migrate`.",
            ExitCode::DatabaseUnavailable,
        );
    }

    /** @param string $path of the database */
    public static function replaced(string $path): self
    {
        return new self(
            "Stopped writing to $path: another file has its name now, or none. What was not committed is read again; stop the writer before the file is replaced.",
            ExitCode::DatabaseUnavailable,
        );
    }

    /** @param string $path of the database */
    public static function ofAnotherUser(string $path, int $user): self
    {
        $account = posix_getpwuid($user);
        $name = $account === false ? "#$user" : $account['name'];

        return new self(
            "Cannot write $path as root: it is $name's, who could not write to what root makes beside it. Run this as $name, for example with sudo -u $name, or with the command trendvault.",
            ExitCode::DatabaseUnavailable,
        );
    }

    /** @param string $path of the database */
    public static function hardLinked(string $path, int $links): self
    {
        return new self(
            "Cannot open $path: the file has $links names (hard links), and SQLite would keep a log of its own for each. Remove the others, or use a symbolic link.",
            ExitCode::DatabaseUnavailable,
        );
    }

    /** @param string $path of the database */
    public static function mounted(string $path): self
    {
        return new self(
            "Cannot open $path: the file itself is a mount point, and SQLite would keep a log of its own beside each of its names. Mount its folder instead.",
            ExitCode::DatabaseUnavailable,
        );
    }

    private static function whyNotOpened(string $path): string
    {
        $folder = dirname($path);

        return match (true) {
            !is_dir($folder)
                => "Cannot open $path: the folder $folder does not exist. Create it, or set DB_PATH.",
            file_exists($path) && !is_file($path)
                => "Cannot open $path: expected a file, it is a folder, a pipe or a device.",
            is_file($path) && !is_readable($path) => "Cannot open $path: permission denied.",
            !is_writable($folder) => "Cannot open $path: permission denied to write to the folder $folder.",
            default => "Cannot open $path: SQLite could not open the file.",
        };
    }

    /** Whether there is no room for a file beside it: SQLite says only that it cannot open its log. */
    private static function takesNoFile(string $path): bool
    {
        // A pipe, as this function alone tells the number of the error.
        if (!posix_mkfifo("$path.probe", 0o600)) {
            return posix_get_last_error() === self::NO_SPACE;
        }
        unlink("$path.probe");

        return false;
    }

    /** @return array{ExitCode, string} */
    private static function diskFull(string $path): array
    {
        return [
            ExitCode::DiskFull,
            "Cannot write $path: the disk is full, of bytes or of files (df -i). The last generation is still served; free some space and run the command again.",
        ];
    }

    /**
     * SQLite reports an input/output error, not a full disk, when it cannot grow its shared memory file.
     *
     * @return array{ExitCode, string}
     */
    private static function inputOutput(SQLite3Exception $error, string $path): array
    {
        $free = @disk_free_space(dirname($path));

        return $free !== false && $free < 1_048_576
            ? self::diskFull($path)
            : [
                ExitCode::DatabaseUnavailable,
                "Cannot use $path: the disk reports an error ({$error->getMessage()}).",
            ];
    }

    /** The database's migrations are not the ones that this writer knows. */
    public static function ofSchema(string $reason): self
    {
        return self::ofMigrations("Cannot use the database: $reason");
    }

    public static function ofMigrations(string $sentence): self
    {
        return new self($sentence, ExitCode::SchemaMismatch);
    }

    /** @param string $holder what the lock file says about the process that has the lock; may be empty */
    public static function heldBy(string $holder, string $path): self
    {
        $process = $holder === '' ? 'another writer' : $holder;

        return new self(
            "Already running on $path: $process. This run stops without writing.",
            ExitCode::AlreadyRunning,
        );
    }
}
