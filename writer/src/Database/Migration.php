<?php

declare(strict_types=1);

namespace TrendVault\Writer\Database;

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
