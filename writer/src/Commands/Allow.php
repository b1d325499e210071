<?php

declare(strict_types=1);

namespace TrendVault\Writer\Commands;

use Override;
use Symfony\Component\Console\Attribute\AsCommand;
use Symfony\Component\Console\Input\InputArgument;
use Symfony\Component\Console\Input\InputInterface;
use Symfony\Component\Console\Input\InputOption;
use TrendVault\Writer\Cli\Context;
use TrendVault\Writer\Cli\ExitCode;
use TrendVault\Writer\Cli\UsageError;
use TrendVault\Writer\Cli\WriterCommand;
use TrendVault\Writer\Database\Database;
use TrendVault\Writer\Database\Removals;

#[AsCommand('allow', 'Undoes `remove`: the next generation ranks the video or the channel again')]
final class Allow extends WriterCommand
{
    #[Override]
    protected function configure(): void
    {
        $this->addArgument(
            'name',
            InputArgument::REQUIRED,
            'The id of the video; one that starts with a hyphen goes after --',
        )->addOption('channel', mode: InputOption::VALUE_NONE, description: 'The name is a channel\'s');
    }

    #[Override]
    protected function handle(InputInterface $input, Context $context): ExitCode
    {
        $subject = RemovalSubject::read($input);

        return new WriteSession('allow', $context)->run(static function (Database $database) use (
            $context,
            $subject,
        ): ExitCode {
            if (!new Removals($database)->allow($subject->kind, $subject->name)) {
                throw UsageError::because("Nothing to allow: $subject is not removed.");
            }
            $context->log->info("Allowed $subject again.", [
                'event' => 'allowed',
                $subject->kind->value => $subject->name,
            ]);

            return ExitCode::Ok;
        });
    }
}
