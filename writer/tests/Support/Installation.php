<?php

declare(strict_types=1);

namespace TrendVault\Writer\Tests\Support;

use SQLite3;

/** A database of its own and the real program, as an operator would call it. */
final class Installation
{
    public const string PROGRAM = __DIR__ . '/../../bin/writer';
    /** A writer that was killed may have left a process that reads, and closes the file after it. */
    private const int BUSY_MILLISECONDS = 60_000;

    /** The bytes of a database. */
    private static ?string $migrated = null;

    public readonly TemporaryFolder $folder;
    public readonly string $database;

    /** @param array<string, string> $environment */
    public function __construct(
        public array $environment = [],
        ?string $database = null,
        ?TemporaryFolder $folder = null,
    ) {
        $this->folder = $folder ?? new TemporaryFolder();
        $this->database = $database ?? "{$this->folder->path}/test.db";
    }

    /**
     * As `writer migrate` leaves it: with the regions of the project, it is made once and copied.
     *
     * @param array<string, string> $environment
     */
    public static function migrated(array $environment = []): self
    {
        $installation = new self($environment);
        if (isset($environment['REGIONS_FILE'])) {
            $installation->run(['migrate']);

            return $installation;
        }
        if (self::$migrated === null) {
            $first = new self();
            $first->run(['migrate']);
            self::$migrated = (string) file_get_contents($first->database);
        }
        file_put_contents($installation->database, self::$migrated);
        touch("$installation->database.lock");

        return $installation;
    }

    /** @param list<string> $words */
    public function run(array $words, string $input = ''): ProcessResult
    {
        $process = $this->start($words, $input);

        return $process->wait();
    }

    /** @param list<string> $words */
    public function start(array $words, string $input = ''): Process
    {
        return new Process(
            [self::PROGRAM, ...$words],
            ['DB_PATH' => $this->database, ...$this->environment],
            $input,
        );
    }

    /** For statements without rows: query() would run them a second time when rows are asked for. */
    public function execute(string $sql): void
    {
        $connection = new SQLite3($this->database);
        $connection->enableExceptions(true);
        $connection->busyTimeout(self::BUSY_MILLISECONDS);
        $connection->exec($sql);
        $connection->close();
    }

    /** @return list<array<string, mixed>> */
    public function rows(string $sql): array
    {
        $connection = new SQLite3($this->database);
        $connection->enableExceptions(true);
        $connection->busyTimeout(self::BUSY_MILLISECONDS);
        $result = $connection->query($sql);
        for ($rows = []; ($row = $result->fetchArray(SQLITE3_ASSOC)) !== false; ) {
            $rows[] = $row;
        }
        $connection->close();

        return $rows;
    }

    /** For tables that are too large to be held, or shown when they differ. */
    public function fingerprint(string $sql): string
    {
        $hash = hash_init('sha256');
        $connection = new SQLite3($this->database);
        $connection->busyTimeout(self::BUSY_MILLISECONDS);
        $result = $connection->query($sql);
        while (($row = $result->fetchArray(SQLITE3_NUM)) !== false) {
            hash_update($hash, serialize($row));
        }
        $connection->close();

        return hash_final($hash);
    }

    public function value(string $sql): mixed
    {
        return current($this->rows($sql)[0] ?? [null]);
    }

    /** Those of sources that fail: the shortest is half a minute, which may be over before a busy machine has looked. */
    public function lengthenPauses(): void
    {
        $this->execute(
            'UPDATE source_schedules SET retry_at = retry_at + 3600 WHERE retry_at > asked_at;
             UPDATE http_sources SET retry_at = retry_at + 3600 WHERE silent_runs > 0',
        );
    }

    /** How many runs were killed after they had begun; 0 before there is a database. */
    public function unfinishedRuns(): int
    {
        $hasRuns =
            is_file($this->database) &&
            $this->value("SELECT count(*) FROM sqlite_schema WHERE name = 'runs'") === 1;

        return $hasRuns ? $this->value('SELECT count(*) FROM runs WHERE finished_at IS NULL') : 0;
    }
}
