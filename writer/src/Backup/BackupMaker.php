<?php

declare(strict_types=1);

namespace TrendVault\Writer\Backup;

use SQLite3Exception;
use TrendVault\Writer\Database\Database;
use TrendVault\Writer\Publication\SigningKeys;
use TrendVault\Writer\Store\CheckedStore;
use TrendVault\Writer\Store\Payload;
use TrendVault\Writer\Store\StoreFailure;
use TrendVault\Writer\Store\WorkFolder;

/** Copies the database into the store: a whole and consistent file (VACUUM INTO), packed, under a signed name. */
final readonly class BackupMaker
{
    /** @param ?SigningKeys $keys null where there are none: the backup is not signed then */
    public function __construct(
        private Database $database,
        private CheckedStore $store,
        private ?SigningKeys $keys,
    ) {}

    /**
     * @param int $now UTC seconds
     * @return int bytes that were stored
     * @throws StoreFailure
     */
    public function run(WorkFolder $folder, int $now): int
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
        $this->store->putOnce(BackupName::of($now, $payload->name(), $this->keys)->key, $payload);

        return $payload->bytes;
    }

    /**
     * Deletes backups that are older than so many days than the newest one, by the store's clock.
     *
     * @throws StoreFailure
     */
    public function deleteOld(int $days): int
    {
        $backups = BackupList::of($this->store->client);
        $newestAt = max([0, ...array_column($backups, 'modifiedAt')]);
        $deleted = 0;
        foreach ($backups as $backup) {
            if ($newestAt - $backup->modifiedAt > $days * 86_400) {
                $this->store->client->delete($backup->name->key);
                $deleted++;
            }
        }

        return $deleted;
    }
}
