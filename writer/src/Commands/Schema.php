<?php

declare(strict_types=1);

namespace TrendVault\Writer\Commands;

use Override;
use TrendVault\Writer\Cli\Arguments;
use TrendVault\Writer\Cli\Command;
use TrendVault\Writer\Cli\Context;
use TrendVault\Writer\Cli\Description;
use TrendVault\Writer\Cli\ExitCode;
use TrendVault\Writer\Database\Database;
use TrendVault\Writer\Database\Migrator;

final readonly class Schema implements Command
{
    #[Override]
    public function description(): Description
    {
        return new Description(
            'schema',
            'prints the schema that all migrations add up to; db/schema.sql is this output',
        );
    }

    #[Override]
    public function run(Arguments $arguments, Context $context): ExitCode
    {
        $arguments->expectNoOperands();
        $database = Database::inMemory();
        Migrator::of($database, $context->settings->migrationsFolder(), $context->clock)->migrate();
        $statements = array_column(
            $database->rows(
                "SELECT sql FROM sqlite_schema WHERE sql IS NOT NULL AND name NOT LIKE 'sqlite_%' ORDER BY rowid",
            ),
            'sql',
        );
        $context->streams->write(
            "-- What db/migrations add up to. Made by `writer schema`; bin/test compares.\n\n" .
                implode(";\n\n", $statements) .
                ";\n",
        );

        return ExitCode::Ok;
    }
}
