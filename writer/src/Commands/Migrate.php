<?php

declare(strict_types=1);

namespace TrendVault\Writer\Commands;

use Override;
use Symfony\Component\Console\Attribute\AsCommand;
use Symfony\Component\Console\Input\InputInterface;
use TrendVault\Writer\Cli\Context;
use TrendVault\Writer\Cli\WriterCommand;
use TrendVault\Writer\Database\Database;
use TrendVault\Writer\Database\Migrator;
use TrendVault\Writer\ExitCode;

#[AsCommand('migrate', 'Creates the database, or brings its schema and regions up to date')]
final class Migrate extends WriterCommand
{
    #[Override]
    protected function handle(InputInterface $input, Context $context): ExitCode
    {
        return $this->migrateAndWrite(
            $context,
            static function () use ($context): ExitCode {
                $context->log->info("{$context->settings->databasePath} is up to date.", [
                    'event' => 'database_current',
                ]);

                return ExitCode::Ok;
            },
            mayCreate: true,
        );
    }
}

#[AsCommand('schema', 'Prints the sum of the migrations; db/schema.sql is this output')]
final class Schema extends WriterCommand
{
    #[Override]
    protected function handle(InputInterface $input, Context $context): ExitCode
    {
        $database = Database::inMemory();
        Migrator::of($database, $context->settings->migrationsFolder(), $context->clock)->migrate();
        $statements = $database->texts(
            "SELECT sql FROM sqlite_schema WHERE sql IS NOT NULL AND name NOT LIKE 'sqlite_%' ORDER BY rowid",
        );
        $context->write(
            "-- The sum of db/migrations. Printed by `writer schema`; bin/test compares.\n\n" .
                implode(";\n\n", $statements) .
                ";\n",
        );

        return ExitCode::Ok;
    }
}
