<?php

declare(strict_types=1);

namespace TrendVault\Writer\Commands;

use Override;
use TrendVault\Writer\Cli\Arguments;
use TrendVault\Writer\Cli\Command;
use TrendVault\Writer\Cli\Context;
use TrendVault\Writer\Cli\Description;
use TrendVault\Writer\Cli\ExitCode;

final readonly class Migrate implements Command
{
    #[Override]
    public function description(): Description
    {
        return new Description('migrate', 'makes the database, or brings its schema and markets up to date');
    }

    #[Override]
    public function run(Arguments $arguments, Context $context): ExitCode
    {
        $arguments->expectNoOperands();

        return WriteSession::migrateAndRun('migrate', $context, static function () use ($context): ExitCode {
            $context->log->info('migrated', "{$context->settings->databasePath} is up to date.");

            return ExitCode::Ok;
        });
    }
}
