<?php

declare(strict_types=1);

namespace TrendVault\Writer\Database;

use Psr\Clock\ClockInterface;
use TrendVault\Writer\WriterException;

/** Brings a database to the schema of db/migrations: in order, one transaction each, never the same one twice. */
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

    /** @param array<int, Migration> $migrations by version */
    public function __construct(
        private Database $database,
        private array $migrations,
        private ClockInterface $clock,
    ) {}

    /** @throws SchemaMismatch when the folder's files are not versions 1, 2, 3 … */
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
        $pending = array_values(array_slice($this->migrations, $this->verifiedVersion()));
        foreach ($pending as $migration) {
            $this->database->transaction(fn() => $this->apply($migration));
        }

        return $pending;
    }

    /** @throws SchemaMismatch unless every migration has been applied, unchanged */
    public function expectCurrent(): void
    {
        $version = $this->verifiedVersion();
        if ($version < count($this->migrations)) {
            throw SchemaMismatch::pending($version, count($this->migrations));
        }
    }

    /** @throws SchemaMismatch when the database has other migrations than the files say */
    private function verifiedVersion(): int
    {
        $applied = $this->applied();
        foreach ($applied as ['version' => $version, 'checksum' => $checksum]) {
            $migration =
                $this->migrations[$version] ??
                throw SchemaMismatch::newer(max(array_column($applied, 'version')), count($this->migrations));
            if ($migration->checksum !== $checksum) {
                throw SchemaMismatch::checksum($migration->label());
            }
        }

        return count($applied);
    }

    /** @return list<array<string, mixed>> */
    private function applied(): array
    {
        $tables = array_column(
            $this->database->rows("SELECT name FROM sqlite_schema WHERE type = 'table'"),
            'name',
        );
        if (in_array('schema_migrations', $tables, true)) {
            return $this->database->rows('SELECT version, checksum FROM schema_migrations ORDER BY version');
        }

        return $tables === [] ? [] : throw SchemaMismatch::foreign();
    }

    /** Where nothing was said yet, it was the origins of that version alone. See docs/decisions/0023. */
    private function sayWhoCanRead(Migration $migration): void
    {
        $before = $this->database->value('PRAGMA user_version') ?: $migration->version - 1;
        $oldestReader = max($before, $migration->oldestReader);
        $this->database->execute("PRAGMA user_version = $oldestReader");
    }

    /** The table of migrations is made with the first migration, so that a file has both or neither. */
    private function apply(Migration $migration): void
    {
        if ($migration->version === 1) {
            $this->database->execute(self::MIGRATIONS_TABLE);
        }
        $this->database->execute($migration->sql);
        $this->sayWhoCanRead($migration);
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

/** One file of db/migrations: `0003_create_observations.sql`. */
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
     * @return array<int, self> by version, in order
     * @throws SchemaMismatch when the versions are not 1, 2, 3 …
     */
    public static function readAll(string $folder): array
    {
        $migrations = [];
        foreach (glob("$folder/*.sql") ?: [] as $file) {
            if (preg_match(self::FILE_NAME, basename($file), $parts) !== 1) {
                throw SchemaMismatch::badFileName($file);
            }
            $sql = (string) file_get_contents($file);
            $version = (int) $parts[1];
            $reader = preg_match(self::READABLE, $sql, $match) === 1 ? (int) $match[1] : $version;
            $migrations[] = new self($version, $parts[2], $sql, hash('sha256', $sql), $reader);
        }
        $versions = array_column($migrations, 'version');
        if ($migrations === [] || $versions !== range(1, count($versions))) {
            throw SchemaMismatch::notInSequence($folder, $versions);
        }

        return array_combine($versions, $migrations);
    }

    /** As in `0003_create_observations`. */
    public function label(): string
    {
        return sprintf('%04d_%s', $this->version, $this->name);
    }
}

/** The database's migrations are not the ones that this writer knows. */
final class SchemaMismatch extends WriterException
{
    public static function checksum(string $migration): self
    {
        return new self(
            "Cannot use the database: migration $migration was changed after it was applied (checksum differs)." .
                ' Restore the file, and make the change in a new migration.',
        );
    }

    public static function newer(int $version, int $known): self
    {
        return new self(
            "Cannot use the database: its schema is version $version, this writer supports versions up to $known. Upgrade the writer.",
        );
    }

    public static function pending(int $version, int $known): self
    {
        return new self(
            "Cannot use the database: its schema is version $version, this writer needs $known. Run `writer migrate`.",
        );
    }

    /** @param list<string> $codes */
    public static function withoutRegions(array $codes): self
    {
        return new self(
            'Cannot use the database: it does not have the regions ' .
                implode(', ', $codes) .
                ' yet. Run `writer migrate`.',
        );
    }

    public static function foreign(): self
    {
        return new self(
            'Cannot migrate the database: it has tables that the writer did not create. Expected an empty file or a database of the writer.',
        );
    }

    public static function badFileName(string $file): self
    {
        return new self("Cannot read migration $file: expected a name like 0003_create_observations.sql.");
    }

    /** @param list<int> $versions */
    public static function notInSequence(string $folder, array $versions): self
    {
        $found = $versions === [] ? 'none' : implode(', ', $versions);

        return new self(
            "Cannot read the migrations in $folder: expected versions 1, 2, 3 and so on, found $found.",
        );
    }
}
