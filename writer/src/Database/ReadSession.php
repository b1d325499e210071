<?php

declare(strict_types=1);

namespace TrendVault\Writer\Database;

use TrendVault\Writer\Cli\Context;

/** What a command needs that only looks: the database, there already and of this writer's schema. */
final readonly class ReadSession
{
    /**
     * @throws DatabaseFailure when there is no such file
     * @throws SchemaMismatch
     */
    public static function open(Context $context): Database
    {
        $path = $context->settings->databasePath;
        if (!is_file($path)) {
            throw DatabaseFailure::missing($path);
        }
        $database = Database::openForReading($path, $context->settings->busyTimeoutMilliseconds);
        Migrator::of($database, $context)->expectCurrent();

        return $database;
    }
}
