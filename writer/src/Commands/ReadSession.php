<?php

declare(strict_types=1);

namespace TrendVault\Writer\Commands;

use TrendVault\Writer\Cli\Context;
use TrendVault\Writer\Database\Database;
use TrendVault\Writer\Database\DatabaseFailure;
use TrendVault\Writer\Database\Migrator;
use TrendVault\Writer\Database\SchemaMismatch;

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
        Migrator::of($database, $context->settings->migrationsFolder(), $context->clock)->expectCurrent();

        return $database;
    }
}
