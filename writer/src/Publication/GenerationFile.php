<?php

declare(strict_types=1);

namespace TrendVault\Writer\Publication;

use SQLite3;
use SQLite3Exception;
use TrendVault\Writer\Database\Database;
use TrendVault\Writer\Database\Removals;
use TrendVault\Writer\Store\StoreFailure;
use TrendVault\Writer\Store\WorkFolder;

/**
 * A generation as a database of its own, which the origin opens as it opens the whole one: all tables, of which those
 * that lists, videos and explanations come from have the rows of this generation. One file in DELETE mode without a WAL.
 * Rows are written in the order of their keys, so that the same rows make the same bytes. Plain and packed, it is made
 * when it is needed first.
 */
final class GenerationFile
{
    private const string SCHEMA = <<<'SQL'
    SELECT type, sql FROM sqlite_schema WHERE sql IS NOT NULL AND name NOT LIKE 'sqlite_%' ORDER BY rowid
    SQL;
    /** In the order in which they refer to each other. ?1 is the generation. */
    private const array ROWS = [
        'schema_migrations' => 'SELECT * FROM main.schema_migrations ORDER BY version',
        'regions' => 'SELECT * FROM main.regions ORDER BY code',
        'videos' =>
            'SELECT * FROM main.videos WHERE id IN (SELECT video_id FROM main.trending WHERE generation = ?1) ORDER BY id',
        'details' => <<<'SQL'
        SELECT * FROM main.details WHERE video_id IN (SELECT video_id FROM main.trending WHERE generation = ?1) ORDER BY video_id
        SQL
        ,
        'lifted' => <<<'SQL'
        SELECT * FROM main.lifted WHERE video_id IN (SELECT video_id FROM main.trending WHERE generation = ?1) ORDER BY video_id, field
        SQL
        ,
        'velocity' => <<<'SQL'
        SELECT * FROM main.velocity WHERE (video_id, region) IN (
          SELECT video_id, region FROM main.trending WHERE generation = ?1 GROUP BY video_id, region HAVING min(category) <> ''
        ) ORDER BY video_id, region
        SQL
        ,
        'generations' => 'SELECT * FROM main.generations WHERE id = ?1',
        'generation_regions' => 'SELECT * FROM main.generation_regions WHERE generation = ?1 ORDER BY region',
        'trending' =>
            'SELECT * FROM main.trending WHERE generation = ?1 ORDER BY region, window, category, rank',
        'explored_ranks' =>
            'SELECT * FROM main.explored_ranks WHERE generation = ?1 ORDER BY region, window, category, rank',
        'explanations' => 'SELECT * FROM main.explanations WHERE generation = ?1 ORDER BY region',
        'hourly_views' => <<<'SQL'
        SELECT * FROM main.hourly_views WHERE (video_id, region) IN (SELECT video_id, region FROM main.trending WHERE generation = ?1)
        ORDER BY region, video_id
        SQL
        ,
        // The reason is the operator's own.
        'removals' =>
            "SELECT kind, name, '" .
            Removals::NO_REASON .
            "', removed_at FROM main.removals ORDER BY kind, name",
        'removals_version' => 'SELECT * FROM main.removals_version',
        // When something was last erased, of nothing: followers delete what is older.
        'erased' => 'SELECT zeroblob(32), max(erased_at) FROM main.erased GROUP BY 1',
    ];

    private ?string $plain = null;
    private ?string $packed = null;

    public function __construct(
        private readonly Database $database,
        private readonly WorkFolder $folder,
        private readonly int $generation,
    ) {}

    /** The newest generation; null when there is none. */
    public static function newest(Database $database): ?int
    {
        return $database->number('SELECT max(id) FROM generations');
    }

    /**
     * @return string its path
     * @throws StoreFailure on a full disk
     */
    public function plain(): string
    {
        return $this->plain ??= $this->make();
    }

    /**
     * @return string its path
     * @throws StoreFailure on a full disk
     */
    public function packed(): string
    {
        return $this->packed ??= $this->folder->gzip($this->plain());
    }

    private function make(): string
    {
        $path = $this->folder->file("$this->generation.db");
        try {
            /** @var list<array{type: string, sql: string}> $schema */
            $schema = $this->database->rows(self::SCHEMA);
            self::createTables($schema, $path);
            $this->database->withoutForeignKeys(fn() => $this->fill($path));
            self::createOthers($schema, $path);
        } catch (SQLite3Exception $failure) {
            throw StoreFailure::because(
                "Cannot make $path: {$failure->getMessage()}. The generation is served here all the same; the next run publishes.",
            );
        }

        return $path;
    }

    private function fill(string $path): void
    {
        $this->run('ATTACH ?1 AS file', $path);
        try {
            $oldestReader = $this->database->number('PRAGMA user_version') ?? 0;
            $this->database->execute(
                "PRAGMA file.journal_mode = OFF; PRAGMA file.synchronous = OFF; PRAGMA file.user_version = $oldestReader; BEGIN",
            );
            foreach (self::ROWS as $table => $select) {
                $this->run("INSERT INTO file.$table $select", $this->generation);
            }
            $this->database->execute('COMMIT');
        } catch (SQLite3Exception $failure) {
            $this->tryTo('ROLLBACK');
            throw $failure;
        } finally {
            $this->tryTo('DETACH file');
        }
    }

    /** Not one of the statements that are kept: a file cannot be detached while there is one. */
    private function run(string $sql, int|string $value): void
    {
        $statement = Database::expect($this->database->connection->prepare($sql));
        if ($statement->paramCount() > 0) {
            $statement->bindValue(1, $value);
        }
        $statement->execute();
        $statement->close();
    }

    private function tryTo(string $sql): void
    {
        try {
            $this->database->execute($sql);
        } catch (SQLite3Exception) {
        }
    }

    /** @param list<array{type: string, sql: string}> $schema */
    private static function createTables(array $schema, string $path): void
    {
        self::create($path, $schema, static fn(string $type): bool => $type === 'table');
    }

    /** @param list<array{type: string, sql: string}> $schema */
    private static function createOthers(array $schema, string $path): void
    {
        self::create($path, $schema, static fn(string $type): bool => $type !== 'table');
    }

    /**
     * @param list<array{type: string, sql: string}> $schema
     * @param callable(string): bool $isWanted
     */
    private static function create(string $path, array $schema, callable $isWanted): void
    {
        $file = new SQLite3($path);
        $file->enableExceptions(true);
        $file->exec('PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; BEGIN');
        foreach ($schema as ['type' => $type, 'sql' => $sql]) {
            if ($isWanted($type)) {
                $file->exec($sql);
            }
        }
        $file->exec('COMMIT');
        $file->close();
    }
}
