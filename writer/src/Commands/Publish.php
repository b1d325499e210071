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

#[AsCommand('publish', 'Publishes the newest generation into the object storage of PUBLISH')]
final class Publish extends WriterCommand
{
    #[Override]
    protected function configure(): void
    {
        $this->setHelp(
            '`writer cron` does this after each generation when PUBLISH is set. What is published already is left alone;' .
                ' when the store fails, nothing here is lost, the exit code is 4, and the next run catches up.',
        );
    }

    #[Override]
    protected function handle(InputInterface $input, Context $context): ExitCode
    {
        return new WriteSession('publish', $context)->run(
            static fn(Database $database): ExitCode => new PublishStep($context, $database)->run() ??
                ExitCode::Ok,
        );
    }
}
