<?php

declare(strict_types=1);

namespace TrendVault\Writer\Database;

use Closure;
use Exception;
use Generator;
use SQLite3;
use SQLite3Exception;
use SQLite3Stmt;
use Throwable;
use UnexpectedValueException;
use TrendVault\Writer\WriterException;

/**
 * One connection, and what the writer's queries need. Statements are prepared once.
 * Errors of SQLite pass through as SQLite3Exception; WriteSession and Application turn them into DatabaseFailure.
 */
final class Database
{
    /** Frames after which a commit checkpoints: 16 MB of WAL at 4 KiB a page. */
    private const int CHECKPOINT_EVERY_PAGES = 4000;
    /** The WAL file is truncated to this size when SQLite starts it over. */
    private const int WAL_SIZE_LIMIT_BYTES = 16 * 1024 * 1024;
    private const int CHECKPOINT_BUSY_TIMEOUT_MILLISECONDS = 200;
    /** How long it waits for another process's lock, such as a reader's that recovers the log. */
    private const int BUSY_TIMEOUT_MILLISECONDS = 5000;
    private const int CACHE_KIB = 8 * 1024;

    /** @var array<string, SQLite3Stmt> by SQL */
    private array $statements = [];
    private readonly ?int $inode;

    private function __construct(
        public readonly SQLite3 $connection,
        private readonly int $busyTimeoutMilliseconds,
        private readonly ?string $path = null,
    ) {
        $connection->enableExceptions(true);
        $connection->busyTimeout($busyTimeoutMilliseconds);
        $this->inode = $path === null ? null : self::inode($path);
    }

    /** Whether something is there that may be a database: SQLite takes an empty file for a new one. */
    public static function isThere(string $path): bool
    {
        return file_exists($path) && (!is_file($path) || (int) filesize($path) > 0);
    }

    /**
     * Opens for writing. synchronous=FULL, because a spool file leaves its folder
     * after the commit: a power cut must not undo lines that are never read again. It costs one sync per commit of some thousand lines.
     *
     * @throws DatabaseFailure|SQLite3Exception
     */
    public static function openForWriting(
        string $path,
        int $busyTimeoutMilliseconds = self::BUSY_TIMEOUT_MILLISECONDS,
        bool $mayCreate = false,
    ): self {
        $flags = SQLITE3_OPEN_READWRITE | ($mayCreate ? SQLITE3_OPEN_CREATE : 0);
        $database = self::open($path, $flags, $busyTimeoutMilliseconds);
        $database->execute('PRAGMA journal_mode = WAL');
        $database->execute('PRAGMA synchronous = FULL');
        $database->execute('PRAGMA foreign_keys = ON');
        $database->execute('PRAGMA cache_size = -' . self::CACHE_KIB);
        $database->execute('PRAGMA wal_autocheckpoint = ' . self::CHECKPOINT_EVERY_PAGES);
        $database->execute('PRAGMA journal_size_limit = ' . self::WAL_SIZE_LIMIT_BYTES);

        return $database;
    }

    /** @throws DatabaseFailure|SQLite3Exception */
    public static function openForReading(string $path): self
    {
        $database = self::open($path, SQLITE3_OPEN_READONLY, self::BUSY_TIMEOUT_MILLISECONDS);
        $database->execute('PRAGMA query_only = ON');

        return $database;
    }

    /** An empty database without a file, which is gone when it is closed. */
    public static function inMemory(): self
    {
        $database = new self(new SQLite3(':memory:'), 0);
        $database->execute('PRAGMA foreign_keys = ON');

        return $database;
    }

    /** Runs SQL whose result is not needed; may be several statements. */
    public function execute(string $sql): void
    {
        $this->connection->exec($sql);
    }

    /** The statement of this SQL, prepared at its first use. */
    public function prepare(string $sql): SQLite3Stmt
    {
        return $this->statements[$sql] ??= self::expect($this->connection->prepare($sql));
    }

    /**
     * Runs one statement with its values.
     *
     * @param list<int|float|string|null> $values
     * @return int rows changed
     */
    public function run(string $sql, array $values = []): int
    {
        $this->bind($sql, $values)->execute();

        return $this->connection->changes();
    }

    /**
     * @param list<int|float|string|null> $values
     * @return list<array<string, mixed>> a column has the type that its STRICT table declares
     */
    public function rows(string $sql, array $values = []): array
    {
        return iterator_to_array($this->each($sql, $values), false);
    }

    /**
     * As rows(), but one after the other. Until the last was read, no other query may have the same SQL.
     *
     * @param list<int|float|string|null> $values
     * @return Generator<int, array<string, mixed>>
     */
    public function each(string $sql, array $values = []): Generator
    {
        $result = self::expect($this->bind($sql, $values)->execute());
        while (($row = $result->fetchArray(SQLITE3_ASSOC)) !== false) {
            /** @var array<string, mixed> $row */
            yield $row;
        }
        $result->finalize();
    }

    /**
     * The first row, null when there is none.
     *
     * @param list<int|float|string|null> $values
     * @return ?array<string, mixed>
     */
    public function row(string $sql, array $values = []): ?array
    {
        return $this->rows($sql, $values)[0] ?? null;
    }

    /**
     * The first column, of whole numbers.
     *
     * @param list<int|float|string|null> $values
     * @return list<int>
     */
    public function integers(string $sql, array $values = []): array
    {
        return array_map(self::integer(...), $this->column($sql, $values));
    }

    /**
     * The first column, of texts.
     *
     * @param list<int|float|string|null> $values
     * @return list<string>
     */
    public function texts(string $sql, array $values = []): array
    {
        return array_map(strval(...), $this->column($sql, $values));
    }

    /**
     * The first column of the first row, null when there is none.
     *
     * @param list<int|float|string|null> $values
     */
    public function value(string $sql, array $values = []): int|float|string|null
    {
        return $this->column($sql, $values)[0] ?? null;
    }

    /**
     * As value(), where that is a whole number: a count, a time, an id.
     *
     * @param list<int|float|string|null> $values
     */
    public function number(string $sql, array $values = []): ?int
    {
        $value = $this->value($sql, $values);

        return $value === null ? null : self::integer($value);
    }

    /**
     * As value(), where that is a text.
     *
     * @param list<int|float|string|null> $values
     */
    public function text(string $sql, array $values = []): ?string
    {
        $value = $this->value($sql, $values);

        return $value === null ? null : (string) $value;
    }

    /**
     * Runs the work in one write transaction: all of it is committed, or nothing. Another file under the name, such as a
     * backup that was put there, ends it: what was committed to the one before would be lost.
     *
     * @throws DatabaseFailure
     * @template T
     * @param Closure(): T $work
     * @return T
     */
    public function transaction(Closure $work): mixed
    {
        $this->execute('BEGIN IMMEDIATE');
        try {
            $result = $work();
            if ($this->path !== null && self::inode($this->path) !== $this->inode) {
                throw DatabaseFailure::replaced($this->path);
            }
            $this->execute('COMMIT');

            return $result;
        } catch (Throwable $failure) {
            $this->rollBack();
            throw $failure;
        }
    }

    /**
     * Runs work that itself keeps rows that refer to each other together. With foreign keys, SQLite lists the rows of a
     * DELETE before it deletes the first: 84,000 ranks cost three fifths more.
     *
     * @param Closure(): mixed $work transactions; must not be called in one, where SQLite ignores the PRAGMA
     */
    public function withoutForeignKeys(Closure $work): void
    {
        $this->execute('PRAGMA foreign_keys = OFF');
        try {
            $work();
        } finally {
            $this->execute('PRAGMA foreign_keys = ON');
        }
    }

    /**
     * Moves the WAL into the database and truncates it to zero bytes.
     *
     * @return bool false when a reader prevented it: no failure, the next run does it
     */
    public function truncateWal(): bool
    {
        $this->connection->busyTimeout(self::CHECKPOINT_BUSY_TIMEOUT_MILLISECONDS);
        try {
            return $this->connection->querySingle('PRAGMA wal_checkpoint(TRUNCATE)') === 0;
        } finally {
            $this->connection->busyTimeout($this->busyTimeoutMilliseconds);
        }
    }

    /** Closes the file, so that the lock can be released after it. */
    public function close(): void
    {
        array_map(static fn(SQLite3Stmt $statement): bool => $statement->close(), $this->statements);
        $this->statements = [];
        $this->connection->close();
    }

    /**
     * @param list<int|float|string|null> $values
     * @return list<int|float|string|null>
     */
    private function column(string $sql, array $values): array
    {
        $result = self::expect($this->bind($sql, $values)->execute());
        for ($column = []; ($row = $result->fetchArray(SQLITE3_NUM)) !== false; ) {
            /** @var array{int|float|string|null} $row */
            $column[] = $row[0];
        }
        $result->finalize();

        return $column;
    }

    private static function integer(int|float|string|null $value): int
    {
        return is_int($value)
            ? $value
            : throw new UnexpectedValueException(
                'A query for whole numbers gave ' . get_debug_type($value) . '.',
            );
    }

    /**
     * The false that the extension's signatures allow never comes: with exceptions on, it throws.
     *
     * @template T of object
     * @param T|false $result
     * @return T
     */
    public static function expect(object|false $result): object
    {
        return $result === false ? throw new UnexpectedValueException('SQLite gave no result.') : $result;
    }

    /** SQLite3's constructor throws a bare Exception that carries no result code. */
    private static function open(string $path, int $flags, int $busyTimeoutMilliseconds): self
    {
        try {
            return new self(new SQLite3($path, $flags), $busyTimeoutMilliseconds, $path);
        } catch (Exception) {
            throw DatabaseFailure::cannotOpen($path);
        }
    }

    private static function inode(string $path): ?int
    {
        clearstatcache(true, $path);
        $inode = @fileinode($path);

        return $inode === false ? null : $inode;
    }

    /** After some errors, a full disk among them, SQLite has rolled back already and says that there is nothing to do. */
    private function rollBack(): void
    {
        try {
            $this->execute('ROLLBACK');
        } catch (SQLite3Exception) {
        }
    }

    /** @param list<int|float|string|null> $values */
    private function bind(string $sql, array $values): SQLite3Stmt
    {
        $statement = $this->prepare($sql);
        $statement->reset();
        foreach ($values as $index => $value) {
            $statement->bindValue($index + 1, $value);
        }

        return $statement;
    }
}

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
        [$fault, $sentence] = match ((int) $error->getCode() & 0xff) {
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
            "There is no database at $path: mount its volume, set DB_PATH, or make a new one with `writer migrate`.",
            DatabaseFault::Unavailable,
        );
    }

    /** @param string $path of the database */
    public static function replaced(string $path): self
    {
        return new self(
            "Stopped writing to $path: another file has its name now, or none. What was not committed is read again; stop the writer before the file is replaced.",
            DatabaseFault::Unavailable,
        );
    }

    /** @param string $path of the database */
    public static function ofAnotherUser(string $path, int $user): self
    {
        $account = posix_getpwuid($user);
        $name = $account === false ? "#$user" : $account['name'];

        return new self(
            "Cannot write $path as root: it is $name's, who could not write to what root makes beside it. Run this as $name, for example with sudo -u $name, or with the command trendvault.",
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

/** What is wrong with the database, as far as an operator can act on it. */
enum DatabaseFault
{
    /** The file cannot be opened, read or written. */
    case Unavailable;
    /** Another process holds a lock on the file. */
    case Busy;
    case DiskFull;
    /** A result code of SQLite that the writer has no advice for. */
    case Unknown;
}
