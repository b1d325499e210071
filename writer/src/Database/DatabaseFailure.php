<?php

declare(strict_types=1);

namespace TrendVault\Writer\Database;

use SQLite3Exception;
use Throwable;
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

    private function __construct(
        string $message,
        public readonly DatabaseFault $fault,
        ?Throwable $previous = null,
    ) {
        parent::__construct($message, previous: $previous);
    }

    /** @param string $path of the database, for the message */
    public static function from(SQLite3Exception $error, string $path): self
    {
        [$fault, $sentence] = match ($error->getCode() & 0xff) {
            self::BUSY, self::LOCKED => [
                DatabaseFault::Busy,
                "Cannot write $path: another process holds a lock on it. The unfinished transaction was rolled back; run the command again when that process has ended.",
            ],
            self::FULL => self::diskFull($path),
            self::READ_ONLY => [
                DatabaseFault::Unavailable,
                "Cannot write $path: the file or its folder is read-only for this user.",
            ],
            self::IO_ERROR => self::inputOutput($error, $path),
            self::CANNOT_OPEN => [DatabaseFault::Unavailable, self::whyNotOpened($path)],
            self::CORRUPT => [
                DatabaseFault::Unavailable,
                "Cannot use $path: the file is damaged ({$error->getMessage()}). Restore a backup, see docs/operations.md.",
            ],
            self::NOT_A_DATABASE => [
                DatabaseFault::Unavailable,
                "Cannot use $path: it is not an SQLite database.",
            ],
            default => [
                DatabaseFault::Unknown,
                "Cannot use $path: {$error->getMessage()} (SQLite result code {$error->getCode()}).",
            ],
        };

        return new self($sentence, $fault, $error);
    }

    /** Says why, as far as the folder and the file show it. */
    public static function cannotOpen(string $path): self
    {
        return new self(self::whyNotOpened($path), DatabaseFault::Unavailable);
    }

    /**
     * @param string $path of the database
     * @param string $said PHP's message about the lock file
     */
    public static function cannotLock(string $path, string $said): self
    {
        if (str_contains($said, 'No space left on device') || str_contains($said, 'errno=28')) {
            [$fault, $sentence] = self::diskFull($path);

            return new self($sentence, $fault);
        }

        return file_exists("$path.lock")
            ? new self(
                "Cannot open $path.lock: permission denied. Run all commands of the writer as the same user.",
                DatabaseFault::Unavailable,
            )
            : self::cannotOpen($path);
    }

    public static function missing(string $path): self
    {
        return new self(
            "There is no database at $path: run `writer migrate` first, or set DB_PATH.",
            DatabaseFault::Unavailable,
        );
    }

    /** @param string $path of the database */
    public static function hardLinked(string $path, int $links): self
    {
        return new self(
            "Cannot open $path: the file has $links names (hard links), and SQLite would keep a log of its own for each. Remove the others, or use a symbolic link.",
            DatabaseFault::Unavailable,
        );
    }

    private static function whyNotOpened(string $path): string
    {
        $folder = dirname($path);

        return match (true) {
            !is_dir($folder)
                => "Cannot open $path: the folder $folder does not exist. Create it, or set DB_PATH.",
            is_dir($path) => "Cannot open $path: it is a folder, expected a file.",
            is_file($path) && !is_readable($path) => "Cannot open $path: permission denied.",
            !is_writable($folder) => "Cannot open $path: permission denied to write to the folder $folder.",
            default => "Cannot open $path: SQLite could not open the file.",
        };
    }

    /** @return array{DatabaseFault, string} */
    private static function diskFull(string $path): array
    {
        return [
            DatabaseFault::DiskFull,
            "Cannot write $path: the disk is full. The last generation is still served; free some space and run the command again.",
        ];
    }

    /**
     * SQLite reports an input/output error, not a full disk, when it cannot grow its shared memory file.
     *
     * @return array{DatabaseFault, string}
     */
    private static function inputOutput(SQLite3Exception $error, string $path): array
    {
        $free = @disk_free_space(dirname($path));

        return $free !== false && $free < 1_048_576
            ? self::diskFull($path)
            : [
                DatabaseFault::Unavailable,
                "Cannot use $path: the disk reports an error ({$error->getMessage()}).",
            ];
    }
}
