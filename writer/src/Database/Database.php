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

/**
 * One connection, and what the writer's queries need. Statements are prepared once.
 * Errors of SQLite pass through as SQLite3Exception; WriterCommand turns them into DatabaseFailure.
 */
final class Database
{
    /** Frames after which a commit checkpoints: 16 MB of WAL at 4 KiB a page. */
    private const int CHECKPOINT_EVERY_PAGES = 4000;
    /** The WAL file is truncated to this size when SQLite starts it over. */
    private const int WAL_SIZE_LIMIT_BYTES = 16 * 1024 * 1024;
    /** SQLITE_OPEN_NOMUTEX, which PHP does not name: no other thread uses the connection, and each call took its mutex. */
    private const int NO_MUTEX = 0x8000;
    private const int CHECKPOINT_BUSY_TIMEOUT_MILLISECONDS = 200;
    /** How long it waits for another process's lock, such as a reader's that recovers the log. */
    private const int BUSY_TIMEOUT_MILLISECONDS = 5000;
    private const int CACHE_KIB = 8 * 1024;
    /** Of st_mode, see inode(7). */
    private const int TYPE_BITS = 0o170000;
    private const int REGULAR_FILE = 0o100000;

    /** @var array<string, true> those that this process has opened */
    private static array $paths = [];
    /** @var list<resource> their files that a changed link has opened otherwise: open until the process ends */
    private static array $kept = [];

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
        self::$paths += $path === null ? [] : [(string) realpath($path) => true];
    }

    /**
     * Whether a file is one that SQLite has open here. It must not be opened and closed by others: that ends SQLite's locks
     * on it (howtocorrupt.html, 2.2).
     *
     * @param array<int>|false $file what stat() says of it
     */
    public static function hasOpen(array|false $file): bool
    {
        clearstatcache();
        foreach (array_keys(self::$paths) as $path) {
            foreach (['', '-wal', '-shm', '-journal'] as $suffix) {
                $own = @stat("$path$suffix");
                if (
                    $file !== false &&
                    $own !== false &&
                    [$own['dev'], $own['ino']] === [$file['dev'], $file['ino']]
                ) {
                    return true;
                }
            }
        }

        return false;
    }

    /**
     * Opens a regular file that is none of those, and waits for nobody who writes to a pipe.
     *
     * @return ?resource null for all else
     */
    public static function openOther(string $path): mixed
    {
        $file = is_file($path) && !self::hasOpen(@stat($path)) ? @fopen($path, 'rbn') : false;
        $stat = $file === false ? false : fstat($file);
        if ($file !== false && self::hasOpen($stat)) {
            self::$kept[] = $file;

            return null;
        }

        return $stat !== false && ($stat['mode'] & self::TYPE_BITS) === self::REGULAR_FILE ? $file : null;
    }

    /**
     * The text of such a file, or a beginning of more than so many bytes. Of one without a length there is none: files of
     * /proc have none, and some of them let a reader wait, or never end.
     */
    public static function textOfOther(string $path, int $mostBytes): ?string
    {
        $file = self::openOther($path);
        if ($file === null) {
            return null;
        }

        return self::lengthOf($file) === 0 ? '' : (string) @stream_get_contents($file, $mostBytes + 1);
    }

    /** @param resource $file */
    public static function lengthOf(mixed $file): int
    {
        $stat = fstat($file);

        return $stat === false ? 0 : $stat['size'];
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
        foreach ([$path, "$path-journal"] as $file) {
            if (file_exists($file) && !is_file($file)) {
                throw DatabaseFailure::cannotOpen($file); // SQLite would wait for a writer of a pipe.
            }
        }
        try {
            return new self(new SQLite3($path, $flags | self::NO_MUTEX), $busyTimeoutMilliseconds, $path);
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
