<?php

declare(strict_types=1);

namespace TrendVault\Writer\Database;

use SQLite3Exception;
use TrendVault\Writer\Cli\ExitCode;
use TrendVault\Writer\Cli\Failure;

/** What SQLite's result codes (https://sqlite.org/rescode.html) mean to the person who runs the writer. */
final class DatabaseFailure extends Failure
{
    private const int BUSY = 5;
    private const int LOCKED = 6;
    private const int READ_ONLY = 8;
    private const int IO_ERROR = 10;
    private const int CORRUPT = 11;
    private const int FULL = 13;
    private const int CANNOT_OPEN = 14;
    private const int NOT_A_DATABASE = 26;

    public static function from(SQLite3Exception $error, string $path): self
    {
        [$exitCode, $sentence] = match ($error->getCode() & 0xff) {
            self::BUSY, self::LOCKED => [
                ExitCode::DatabaseBusy,
                "Cannot write $path: another process holds a lock on it. Nothing of the unfinished step was kept; run again when it is done.",
            ],
            self::FULL => [
                ExitCode::DiskFull,
                "Cannot write $path: the disk is full. The last generation stays served; make room and run again.",
            ],
            self::READ_ONLY => [
                ExitCode::DatabaseUnavailable,
                "Cannot write $path: the file or its folder is read-only for this user.",
            ],
            self::IO_ERROR => self::inputOutput($error, $path),
            self::CANNOT_OPEN => [ExitCode::DatabaseUnavailable, self::whyNotOpened($path)],
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

        return new self($sentence, $exitCode, $error);
    }

    public static function cannotOpen(string $path): self
    {
        return new self(self::whyNotOpened($path), ExitCode::DatabaseUnavailable);
    }

    public static function cannotLock(string $path): self
    {
        return file_exists("$path.lock")
            ? new self(
                "Cannot open $path.lock: this user may not write it. Run every command of the writer as the same user.",
                ExitCode::DatabaseUnavailable,
            )
            : self::cannotOpen($path);
    }

    public static function missing(string $path): self
    {
        return new self(
            "There is no database at $path: run `writer migrate` first, or set DB_PATH.",
            ExitCode::DatabaseUnavailable,
        );
    }

    private static function whyNotOpened(string $path): string
    {
        $folder = dirname($path);

        return match (true) {
            !is_dir($folder)
                => "Cannot open $path: the folder $folder does not exist. Create it, or set DB_PATH.",
            is_dir($path) => "Cannot open $path: it is a folder, expected a file.",
            is_file($path) && !is_readable($path) => "Cannot open $path: this user may not read it.",
            !is_writable($folder) => "Cannot open $path: this user may not write to the folder $folder.",
            default => "Cannot open $path: SQLite could not open the file.",
        };
    }

    /**
     * A full disk shows as an input/output error where SQLite was growing its shared memory file.
     *
     * @return array{ExitCode, string}
     */
    private static function inputOutput(SQLite3Exception $error, string $path): array
    {
        $free = @disk_free_space(dirname($path));

        return $free !== false && $free < 1_048_576
            ? [
                ExitCode::DiskFull,
                "Cannot write $path: the disk is full. The last generation stays served; make room and run again.",
            ]
            : [
                ExitCode::DatabaseUnavailable,
                "Cannot use $path: the disk reports an error ({$error->getMessage()}).",
            ];
    }
}
