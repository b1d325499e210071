<?php

declare(strict_types=1);

namespace TrendVault\Writer\Backup;

use TrendVault\Writer\Store\S3Client;
use TrendVault\Writer\Store\StoreFailure;

/** The backups that a store has. */
final readonly class BackupList
{
    /**
     * @return list<StoredBackup> by time, the oldest first
     * @throws StoreFailure
     */
    public static function of(S3Client $store): array
    {
        $backups = [];
        foreach ($store->list(BackupName::FOLDER) as $object) {
            $name = BackupName::read($object->key);
            if ($name !== null) {
                $backups[] = new StoredBackup($name, $object->bytes, $object->modifiedAt);
            }
        }

        return $backups;
    }
}
