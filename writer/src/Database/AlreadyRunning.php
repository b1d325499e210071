<?php

declare(strict_types=1);

namespace TrendVault\Writer\Database;

use TrendVault\Writer\WriterException;

final class AlreadyRunning extends WriterException
{
    /** @param string $holder what the lock file says about who has it */
    public static function as(string $holder, string $databasePath): self
    {
        $who = $holder === '' ? 'another writer' : $holder;

        return new self("Already running on $databasePath: $who. This run stops without writing.");
    }
}
