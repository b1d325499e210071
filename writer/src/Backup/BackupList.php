<?php

declare(strict_types=1);

namespace TrendVault\Writer\Backup;

use TrendVault\Writer\Store\ListedObject;
use TrendVault\Writer\Store\S3Client;
use TrendVault\Writer\Store\StoreFailure;

/** The backups that a store has. */
final readonly class BackupList
{
    /**
     * @return list<ListedObject> by time, the oldest first
     * @throws StoreFailure
     */
    public static function of(S3Client $store): array
    {
        $objects = iterator_to_array($store->list(BackupName::FOLDER), false);

        return array_values(
            array_filter(
                $objects,
                static fn(ListedObject $object): bool => BackupName::read($object->key) !== null,
            ),
        );
    }
}
