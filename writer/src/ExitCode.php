<?php

declare(strict_types=1);

namespace TrendVault\Writer;

/** What the process says to cron, systemd or a monitor. docs/operations.md tells what to do about each. */
enum ExitCode: int
{
    case Ok = 0;
    /** `status --max-age`: the newest generation is older. */
    case Stale = 1;
    /** An unknown option, or a setting that cannot be read. */
    case Usage = 2;
    /** Another writer holds the lock. */
    case AlreadyRunning = 3;
    /** A source is missing, unreachable, empty or stopped midway: what it gave is stored. Or the store of PUBLISH_URL or BACKUP_URL failed. */
    case SourceFailed = 4;
    /** The database file cannot be opened or written. */
    case DatabaseUnavailable = 5;
    /** Another process holds a lock on the database. */
    case DatabaseBusy = 6;
    /** No room left for the database. */
    case DiskFull = 7;
    /** The database's migrations are not the ones that this writer knows. */
    case SchemaMismatch = 8;
    /** The clock is behind what is stored. */
    case ClockBackwards = 9;
    /** A list would become empty, so nothing was published. */
    case EmptyPublication = 10;
    /** The command's result could not be written to standard output. */
    case OutputFailed = 74;
    /** A bug, or a PHP that cannot run the writer. */
    case Internal = 70;
    /** SIGTERM or SIGINT came while a file was read; 128 and the number of SIGTERM, as a shell says it. */
    case Stopped = 143;

    /** @return array<int, string> what people read, by code: 4 is "source failed" */
    public static function labels(): array
    {
        $labels = [];
        foreach (self::cases() as $code) {
            $labels[$code->value] = strtolower((string) preg_replace('/(?<!^)[A-Z]/', ' $0', $code->name));
        }

        return $labels;
    }
}
