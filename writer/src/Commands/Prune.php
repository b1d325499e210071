<?php

declare(strict_types=1);

namespace TrendVault\Writer\Commands;

use Override;
use Symfony\Component\Console\Attribute\AsCommand;
use Symfony\Component\Console\Input\InputInterface;
use TrendVault\Writer\Cli\Context;
use TrendVault\Writer\Cli\ExitCode;
use TrendVault\Writer\Cli\WriterCommand;
use TrendVault\Writer\Database\Database;

#[
    AsCommand(
        'prune',
        'Deletes generations and observations that are older than the settings keep, and truncates the WAL',
    ),
]
final class Prune extends WriterCommand
{
    #[Override]
    protected function handle(InputInterface $input, Context $context): ExitCode
    {
        return new WriteSession('prune', $context)->run(static function (Database $database) use (
            $context,
        ): ExitCode {
            new PruneStep($context, $database)->run();

            return ExitCode::Ok;
        });
    }
}
