<?php

declare(strict_types=1);

namespace TrendVault\Writer\Database;

use Psr\Clock\ClockInterface;
use TrendVault\Writer\WriterException;

/**
 * Brings a database to the schema of db/migrations: the base where it is empty, then one change after the other, in
 * one transaction each.
 */
final readonly class Migrator
{
    private const string MIGRATIONS_TABLE = <<<'SQL'
    CREATE TABLE schema_migrations (
      version INTEGER NOT NULL PRIMARY KEY,
      name TEXT NOT NULL,
      checksum TEXT NOT NULL, -- SHA-256 of the file, hexadecimal
      applied_at INTEGER NOT NULL
    ) STRICT
    SQL;
    /** The last commit that has the migrations which the base stands for, one file each. */
    private const string COMMIT_BEFORE_BASE = '5458ec0';
    /** SHA-256 of their checksums in hexadecimal, one after the other, as that commit records them. */
    private const string CHECKSUM_BEFORE_BASE = '118fc4b6757b8d195603a2669b86e42aa02ca4d778b5aca8f9835763c8a318e9';

    /** @param non-empty-array<int, Migration> $migrations by version, the base first */
    private function __construct(
        private Database $database,
        private array $migrations,
        private ClockInterface $clock,
    ) {}

    /** @throws SchemaMismatch when the folder's files are not a base and the versions that follow it */
    public static function of(Database $database, string $migrationsFolder, ClockInterface $clock): self
    {
        return new self($database, Migration::readAll($migrationsFolder), $clock);
    }

    /**
     * @return list<Migration> what was applied
     * @throws SchemaMismatch
     */
    public function migrate(): array
    {
        $version = $this->verifiedVersion();
        $pending = array_values(
            array_filter(
                $this->migrations,
                static fn(Migration $migration): bool => $migration->version > $version,
            ),
        );
        foreach ($pending as $migration) {
            $this->database->transaction(fn() => $this->apply($migration));
        }

        return $pending;
    }

    /** @throws SchemaMismatch unless every migration has been applied, unchanged */
    public function expectCurrent(): void
    {
        $version = $this->verifiedVersion();
        $newest = array_key_last($this->migrations);
        if ($version < $newest) {
            throw SchemaMismatch::of(
                "its schema is version $version, this writer needs $newest. Run `writer migrate`.",
            );
        }
    }

    /** @throws SchemaMismatch when the database has other migrations than the files say */
    private function verifiedVersion(): int
    {
        $applied = $this->applied();
        $version = array_key_last($applied) ?? 0;
        [$base, $newest] = [array_key_first($this->migrations), array_key_last($this->migrations)];
        if ($version > $newest) {
            throw SchemaMismatch::of(
                "its schema is version $version, this writer supports versions up to $newest. Upgrade the writer.",
            );
        }
        if ($applied !== [] && $version < $base) {
            throw SchemaMismatch::of(
                "its schema is version $version, this writer begins with $base. Run `writer migrate` of commit " .
                    self::COMMIT_BEFORE_BASE .
                    ' first.',
            );
        }
        foreach (self::sinceBase($applied, $base) as $number => $checksum) {
            if ($this->migrations[$number]->checksum !== $checksum) {
                throw SchemaMismatch::of(
                    "migration {$this->migrations[$number]->label()} was changed after it was applied (checksum differs)." .
                        ' Restore the file, and make the change in a new migration.',
                );
            }
        }

        return $version;
    }

    /**
     * What is compared with the files: without the migrations that the base stands for, where they were applied one by one.
     *
     * @param array<int, string> $applied checksums by version
     * @return array<int, string>
     * @throws SchemaMismatch when those are not the ones of that commit
     */
    private static function sinceBase(array $applied, int $base): array
    {
        $since = array_filter(
            $applied,
            static fn(int $version): bool => $version > $base,
            ARRAY_FILTER_USE_KEY,
        );
        $until = array_diff_key($applied, $since);
        if (array_keys($until) === [$base] || $until === []) {
            return $applied;
        }

        return hash('sha256', implode('', $until)) === self::CHECKSUM_BEFORE_BASE
            ? $since
            : throw SchemaMismatch::of(
                "its migrations 1 to $base are not those of commit " .
                    self::COMMIT_BEFORE_BASE .
                    ' (checksum differs). Restore a backup from before they were changed.',
            );
    }

    /**
     * @return array<int, string> checksums by version, in order
     * @throws SchemaMismatch
     */
    private function applied(): array
    {
        $tables = $this->database->texts("SELECT name FROM sqlite_schema WHERE type = 'table'");
        if (in_array('schema_migrations', $tables, true)) {
            return array_combine(
                $this->database->integers('SELECT version FROM schema_migrations ORDER BY version'),
                $this->database->texts('SELECT checksum FROM schema_migrations ORDER BY version'),
            );
        }

        return $tables === []
            ? []
            : throw new SchemaMismatch(
                'Cannot migrate the database: it has tables that the writer did not create. Expected an empty file or a database of the writer.',
            );
    }

    /** The table of migrations is made with the base, so that a file has both or neither. */
    private function apply(Migration $migration): void
    {
        if ($migration->version === array_key_first($this->migrations)) {
            $this->database->execute(self::MIGRATIONS_TABLE);
        }
        $this->database->execute($migration->sql);
        // Which origins can read the database, see docs/decisions/0013-upgrades-in-either-order.md.
        $oldestReader = max($this->database->number('PRAGMA user_version') ?? 0, $migration->oldestReader);
        $this->database->execute("PRAGMA user_version = $oldestReader");
        $this->database->run(
            'INSERT INTO schema_migrations (version, name, checksum, applied_at) VALUES (?, ?, ?, ?)',
            [
                $migration->version,
                $migration->name,
                $migration->checksum,
                $this->clock->now()->getTimestamp(),
            ],
        );
    }
}

/** One file of db/migrations: `0028_add_sports.sql`. The first is the base, with the whole schema of its version. */
final readonly class Migration
{
    private const string FILE_NAME = '/^(\d{4})_([a-z0-9_]+)\.sql$/D';
    private const string READABLE = '/^-- Origins of schema version (\d+) and later can read what this makes\.$/m';

    private function __construct(
        public int $version,
        public string $name,
        public string $sql,
        public string $checksum,
        /** The oldest schema version whose origins can read a database with this: its own, unless the file names another. */
        public int $oldestReader,
    ) {}

    /**
     * @return non-empty-array<int, self> by version, in order
     * @throws SchemaMismatch when a version is missing between the base and the newest
     */
    public static function readAll(string $folder): array
    {
        $migrations = $parts = $match = [];
        /** @var list<int> $versions */
        $versions = [];
        foreach (glob("$folder/*.sql") ?: [] as $file) {
            if (preg_match(self::FILE_NAME, basename($file), $parts) !== 1) {
                throw new SchemaMismatch(
                    "Cannot read migration $file: expected a name like 0028_add_sports.sql.",
                );
            }
            $sql = (string) file_get_contents($file);
            $version = (int) $parts[1];
            $reader = preg_match(self::READABLE, $sql, $match) === 1 ? (int) $match[1] : $version;
            $versions[] = $version;
            $migrations[$version] = new self($version, $parts[2], $sql, hash('sha256', $sql), $reader);
        }
        $isInSequence =
            $versions !== [] &&
            count($migrations) === count($versions) &&
            max($versions) - min($versions) + 1 === count($versions);
        if ($migrations === [] || !$isInSequence) {
            throw new SchemaMismatch(
                "Cannot read the migrations in $folder: expected a base and the versions that follow it, found " .
                    ($versions === [] ? 'none' : implode(', ', $versions)) .
                    '.',
            );
        }

        return $migrations;
    }

    /** As in `0028_add_sports`. */
    public function label(): string
    {
        return sprintf('%04d_%s', $this->version, $this->name);
    }
}

/** The database's migrations are not the ones that this writer knows. */
final class SchemaMismatch extends WriterException
{
    public static function of(string $reason): self
    {
        return new self("Cannot use the database: $reason");
    }
}
