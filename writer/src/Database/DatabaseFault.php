<?php

declare(strict_types=1);

namespace TrendVault\Writer\Database;

/** What is wrong with the database, as far as an operator can act on it. */
enum DatabaseFault
{
    /** The file cannot be opened, read or written. */
    case Unavailable;
    /** Another process holds a lock on the file. */
    case Busy;
    case DiskFull;
    /** A result code of SQLite that the writer has no advice for. */
    case Unknown;
}
