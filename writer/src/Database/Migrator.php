<?php

declare(strict_types=1);

namespace TrendVault\Writer\Database;

use Psr\Clock\ClockInterface;

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

    /** `0028_add_sports.sql`. The first is the base, with the whole schema of its version. */
    private const string FILE_NAME = '/^(\d{4})_([a-z0-9_]+)\.sql$/D';
    /** The oldest schema version whose origins can read a database with a migration: its own, unless its file says this. */
    private const string READABLE = '/^-- Origins of schema version (\d+) and later can read what this makes\.$/m';

    /** @param non-empty-array<int, array{name: string, sql: string}> $migrations by version, in order */
    private function __construct(
        private Database $database,
        private array $migrations,
        private ClockInterface $clock,
    ) {}

    /** @throws DatabaseFailure when the folder's files are not a base and the versions that follow it */
    public static function of(Database $database, string $migrationsFolder, ClockInterface $clock): self
    {
        return new self($database, self::readAll($migrationsFolder), $clock);
    }

    /**
     * @return array<int, string> what was applied, as in 0028_add_sports, by version
     * @throws DatabaseFailure
     */
    public function migrate(): array
    {
        $version = $this->verifiedVersion();
        $applied = [];
        foreach ($this->migrations as $number => $migration) {
            if ($number > $version) {
                $this->database->transaction(
                    fn() => $this->apply($number, $migration['name'], $migration['sql']),
                );
                $applied[$number] = self::label($number, $migration['name']);
            }
        }

        return $applied;
    }

    /** @throws DatabaseFailure unless every migration has been applied, unchanged */
    public function expectCurrent(): void
    {
        $version = $this->verifiedVersion();
        $newest = array_key_last($this->migrations);
        if ($version < $newest) {
            throw DatabaseFailure::ofSchema(
                "its schema is version $version, this writer needs $newest. Run `writer migrate`.",
            );
        }
    }

    /** @throws DatabaseFailure when the database has other migrations than the files say */
    public function verifiedVersion(): int
    {
        $applied = $this->applied();
        $version = array_key_last($applied) ?? 0;
        [$base, $newest] = [array_key_first($this->migrations), array_key_last($this->migrations)];
        if ($version > $newest) {
            throw DatabaseFailure::ofSchema(
                "its schema is version $version, this writer supports versions up to $newest. Upgrade the writer.",
            );
        }
        if ($applied !== [] && $version < $base) {
            throw DatabaseFailure::ofSchema(
                "its schema is version $version, this writer begins with $base. Run `writer migrate` of commit " .
                    self::COMMIT_BEFORE_BASE .
                    ' first.',
            );
        }
        foreach (self::sinceBase($applied, $base) as $number => $checksum) {
            ['name' => $name, 'sql' => $sql] = $this->migrations[$number];
            if (hash('sha256', $sql) !== $checksum) {
                throw DatabaseFailure::ofSchema(
                    'migration ' .
                        self::label($number, $name) .
                        ' was changed after it was applied (checksum differs).' .
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
     * @throws DatabaseFailure when those are not the ones of that commit
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
            : throw DatabaseFailure::ofSchema(
                "its migrations 1 to $base are not those of commit " .
                    self::COMMIT_BEFORE_BASE .
                    ' (checksum differs). Restore a backup from before they were changed.',
            );
    }

    /**
     * @return array<int, string> checksums by version, in order
     * @throws DatabaseFailure
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
            : throw DatabaseFailure::ofMigrations(
                'Cannot migrate the database: it has tables that the writer did not create. Expected an empty file or a database of the writer.',
            );
    }

    /** The table of migrations is made with the base, so that a file has both or neither. */
    private function apply(int $version, string $name, string $sql): void
    {
        if ($version === array_key_first($this->migrations)) {
            $this->database->execute(self::MIGRATIONS_TABLE);
        }
        $this->database->execute($sql);
        // Which origins can read the database, see docs/decisions/0013-upgrades-in-either-order.md.
        $match = [];
        $reader = preg_match(self::READABLE, $sql, $match) === 1 ? (int) $match[1] : $version;
        $oldestReader = max($this->database->number('PRAGMA user_version') ?? 0, $reader);
        $this->database->execute("PRAGMA user_version = $oldestReader");
        $this->database->run(
            'INSERT INTO schema_migrations (version, name, checksum, applied_at) VALUES (?, ?, ?, ?)',
            [$version, $name, hash('sha256', $sql), $this->clock->now()->getTimestamp()],
        );
    }

    /**
     * @return non-empty-array<int, array{name: string, sql: string}> by version, in order
     * @throws DatabaseFailure when a version is missing between the base and the newest
     */
    private static function readAll(string $folder): array
    {
        $migrations = $parts = [];
        /** @var list<int> $versions */
        $versions = [];
        foreach (glob("$folder/*.sql") ?: [] as $file) {
            if (preg_match(self::FILE_NAME, basename($file), $parts) !== 1) {
                throw DatabaseFailure::ofMigrations(
                    "Cannot read migration $file: expected a name like 0028_add_sports.sql.",
                );
            }
            $versions[] = $version = (int) $parts[1];
            $migrations[$version] = ['name' => $parts[2], 'sql' => (string) file_get_contents($file)];
        }
        $isInSequence =
            $versions !== [] &&
            count($migrations) === count($versions) &&
            max($versions) - min($versions) + 1 === count($versions);
        if ($migrations === [] || !$isInSequence) {
            throw DatabaseFailure::ofMigrations(
                "Cannot read the migrations in $folder: expected a base and the versions that follow it, found " .
                    ($versions === [] ? 'none' : implode(', ', $versions)) .
                    '.',
            );
        }

        return $migrations;
    }

    private static function label(int $version, string $name): string
    {
        return sprintf('%04d_%s', $version, $name);
    }
}
