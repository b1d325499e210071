<?php

declare(strict_types=1);

namespace TrendVault\Writer\Commands;

use Override;
use Symfony\Component\Console\Attribute\AsCommand;
use Symfony\Component\Console\Input\InputInterface;
use TrendVault\Writer\Cli\Context;
use TrendVault\Writer\Cli\ExitCode;
use TrendVault\Writer\Cli\WriterCommand;

#[AsCommand('migrate', 'Creates the database, or brings its schema and markets up to date')]
final class Migrate extends WriterCommand
{
    #[Override]
    protected function handle(InputInterface $input, Context $context): ExitCode
    {
        return new WriteSession('migrate', $context)->migrateAndRun(static function () use (
            $context,
        ): ExitCode {
            $context->log->info("{$context->settings->databasePath} is up to date.", [
                'event' => 'database_current',
            ]);

            return ExitCode::Ok;
        });
    }
}
