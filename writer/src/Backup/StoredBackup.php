<?php

declare(strict_types=1);

namespace TrendVault\Writer\Backup;

/** A backup that a store has. */
final readonly class StoredBackup
{
    /** @param int $modifiedAt UTC seconds, by the store's clock */
    public function __construct(public BackupName $name, public int $bytes, public int $modifiedAt) {}
}
