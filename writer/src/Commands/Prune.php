<?php

declare(strict_types=1);

namespace TrendVault\Writer\Commands;

use Override;
use Symfony\Component\Console\Attribute\AsCommand;
use Symfony\Component\Console\Input\InputInterface;
use Symfony\Component\Console\Input\InputOption;
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
    protected function configure(): void
    {
        $this->addOption(
            'by-clock',
            mode: InputOption::VALUE_NONE,
            description: 'The clock is right: delete what is older than KEEP_DAYS by it, without waiting for a day',
        );
    }

    #[Override]
    protected function handle(InputInterface $input, Context $context): ExitCode
    {
        $trustsClock = $input->getOption('by-clock');

        return new WriteSession('prune', $context)->run(static function (Database $database) use (
            $context,
            $trustsClock,
        ): ExitCode {
            new PruneStep($context, $database)->run($trustsClock);

            return ExitCode::Ok;
        });
    }
}
