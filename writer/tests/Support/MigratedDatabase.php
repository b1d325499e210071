<?php

declare(strict_types=1);

namespace TrendVault\Writer\Tests\Support;

use TrendVault\Writer\Cli\Settings;
use TrendVault\Writer\Database\Database;
use TrendVault\Writer\Database\Migrator;
use TrendVault\Writer\Database\RegionTable;

/** A real database with the project's schema and regions, without a file. */
final class MigratedDatabase
{
    /** All migrations take a tenth of a second, a copy of what they made hardly any. */
    private static ?Database $migrated = null;

    public static function inMemory(): Database
    {
        $database = Database::inMemory();
        $migrated = self::$migrated ??= self::migrated();
        $migrated->connection->backup($database->connection);

        return $database;
    }

    private static function migrated(): Database
    {
        $root = Settings::projectRoot();
        $database = Database::inMemory();
        Migrator::of($database, "$root/db/migrations", new FixedClock())->migrate();
        RegionTable::read((string) file_get_contents("$root/db/regions.json"))->seed($database);

        return $database;
    }

    /** @return int the id of a new row in runs */
    public static function beginRun(Database $database): int
    {
        $database->run("INSERT INTO runs (command, started_at) VALUES ('cron', ?)", [FixedClock::NOON]);

        return $database->connection->lastInsertRowID();
    }
}
