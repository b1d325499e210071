<?php

declare(strict_types=1);

namespace TrendVault\Writer\Database;

use TrendVault\Writer\WriterException;

final class AlreadyRunning extends WriterException
{
    /** @param string $holder what the lock file says about the process that has the lock; may be empty */
    public static function heldBy(string $holder, string $databasePath): self
    {
        $process = $holder === '' ? 'another writer' : $holder;

        return new self("Already running on $databasePath: $process. This run stops without writing.");
    }
}
