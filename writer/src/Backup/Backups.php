<?php

declare(strict_types=1);

namespace TrendVault\Writer\Backup;

use SQLite3Exception;
use TrendVault\Writer\Database\Database;
use TrendVault\Writer\Publication\SigningKeys;
use TrendVault\Writer\Store\S3Client;
use TrendVault\Writer\Store\Payload;
use TrendVault\Writer\Store\StoreFailure;
use TrendVault\Writer\Store\WorkFolder;

/** Copies the database into the store: a whole and consistent file (VACUUM INTO), packed, under a signed name. */
final readonly class BackupMaker
{
    /** @param ?SigningKeys $keys null where there are none: the backup is not signed then */
    public function __construct(
        private Database $database,
        private S3Client $store,
        private ?SigningKeys $keys,
    ) {}

    /**
     * @param int $now UTC seconds
     * @return array{key: string, bytes: int} of what was stored
     * @throws StoreFailure
     */
    public function run(WorkFolder $folder, int $now): array
    {
        $path = $folder->file('backup.db');
        try {
            $this->database->run('VACUUM INTO ?', [$path]);
        } catch (SQLite3Exception $failure) {
            throw StoreFailure::because(
                "Cannot make a backup in $folder->path: {$failure->getMessage()}. It needs as much space there as the database has.",
            );
        }
        $payload = Payload::file($folder->gzip($path));
        $key = BackupName::of($now, $payload->name(), $this->keys)->key;
        $this->store->putOnce($key, $payload);

        return ['key' => $key, 'bytes' => $payload->bytes];
    }

    /**
     * Deletes all backups but this one.
     *
     * @throws StoreFailure
     */
    public function deleteOthers(string $key): int
    {
        $deleted = 0;
        foreach (StoredBackup::allOf($this->store) as $backup) {
            if ($backup->name->key !== $key) {
                $this->store->delete($backup->name->key);
                $deleted++;
            }
        }

        return $deleted;
    }

    /**
     * Deletes backups that are older than so many days than the newest one, by the store's clock.
     *
     * @throws StoreFailure
     */
    public function deleteOld(int $hours): int
    {
        $backups = StoredBackup::allOf($this->store);
        $newestAt = max([0, ...array_column($backups, 'modifiedAt')]);
        $deleted = 0;
        foreach ($backups as $backup) {
            if ($newestAt - $backup->modifiedAt > $hours * 3600) {
                $this->store->delete($backup->name->key);
                $deleted++;
            }
        }

        return $deleted;
    }
}

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
