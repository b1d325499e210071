<?php

declare(strict_types=1);

namespace TrendVault\Writer\Commands;

use Override;
use Symfony\Component\Console\Attribute\AsCommand;
use Symfony\Component\Console\Input\InputInterface;
use TrendVault\Writer\Cli\Context;
use TrendVault\Writer\Cli\ExitCode;
use TrendVault\Writer\Cli\WriterCommand;
use TrendVault\Writer\Database\IntegrityCheck;

#[AsCommand('check', 'Reads the whole database and says whether it is damaged')]
final class Check extends WriterCommand
{
    #[Override]
    protected function configure(): void
    {
        $this->setHelp(
            'Only reads, takes no lock and has no time limit. `writer cron` does this once a day, for at most 30 seconds;' .
                ' `writer status` has the result. The exit code is 5 when the file is damaged.',
        );
    }

    #[Override]
    protected function handle(InputInterface $input, Context $context): ExitCode
    {
        $problems = new IntegrityCheck(ReadSession::open($context))->problems();
        $context->write($problems === [] ? "The database is whole.\n" : implode("\n", $problems) . "\n");

        return $problems === [] ? ExitCode::Ok : ExitCode::DatabaseUnavailable;
    }
}
