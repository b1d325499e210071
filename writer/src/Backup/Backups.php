<?php

declare(strict_types=1);

namespace TrendVault\Writer\Backup;

use TrendVault\Writer\Database\Database;

/** The table backups: when one is due, and how the last ones ended. */
final readonly class Backups
{
    private const int INTERVAL_SECONDS = 86_400;
    /** After a failure or a death: a copy of the whole file is too much for every minute. */
    private const int RETRY_SECONDS = 3600;
    private const int KEPT = 100;

    /** @param string $store s3://bucket/prefix */
    public function __construct(private Database $database, private string $store) {}

    /**
     * Whether the last one is a day old, or of the future.
     *
     * @param int $now UTC seconds
     */
    public function isDue(int $now): bool
    {
        /** @var array{began_at: int, bytes: ?int} $last */
        $last = $this->database->rows(
            'SELECT began_at, bytes FROM backups WHERE store = ? ORDER BY id DESC LIMIT 1',
            [$this->store],
        )[0] ?? ['began_at' => 0, 'bytes' => null];
        $pause = $last['bytes'] === null ? self::RETRY_SECONDS : self::INTERVAL_SECONDS;

        return $last['began_at'] > $now || $last['began_at'] <= $now - $pause;
    }

    /**
     * @param int $now UTC seconds
     * @return int its id
     */
    public function begin(int $now): int
    {
        $this->database->run('INSERT INTO backups (store, began_at) VALUES (?, ?)', [$this->store, $now]);
        $id = $this->database->connection->lastInsertRowID();
        $this->database->run('DELETE FROM backups WHERE id <= ?', [$id - self::KEPT]);

        return $id;
    }

    public function finish(int $id, int $bytes, float $seconds): void
    {
        $this->database->run('UPDATE backups SET bytes = ?, seconds = ? WHERE id = ?', [
            $bytes,
            $seconds,
            $id,
        ]);
    }

    public function fail(int $id, string $reason): void
    {
        $this->database->run('UPDATE backups SET failure = ? WHERE id = ?', [$reason, $id]);
    }
}
