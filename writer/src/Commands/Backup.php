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

#[AsCommand('backup', 'Makes a backup of the database in the object storage of BACKUP')]
final class Backup extends WriterCommand
{
    #[Override]
    protected function configure(): void
    {
        $this->setHelp(
            '`writer cron` does this once a day when BACKUP is set. `writer restore` brings one back.',
        );
    }

    #[Override]
    protected function handle(InputInterface $input, Context $context): ExitCode
    {
        return new WriteSession('backup', $context)->run(
            static fn(Database $database): ExitCode => new BackupStep($context, $database)->run() ??
                ExitCode::Ok,
        );
    }
}
