<?php

declare(strict_types=1);

namespace TrendVault\Writer\Database;

use Psr\Clock\ClockInterface;

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

    /** Where nothing was said yet, it was the origins of that version alone. See docs/decisions/0052. */
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
