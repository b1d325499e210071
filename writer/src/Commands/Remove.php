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
use TrendVault\Writer\Cli\WriterCommand;
use TrendVault\Writer\Database\Database;
use TrendVault\Writer\Database\Removals;

#[AsCommand('remove', 'Takes a video or a channel down: out of every list, and it stays out')]
final class Remove extends WriterCommand
{
    private const string HELP = <<<'TEXT'
    The origin leaves it out of every page at once, and edges do so within 15 minutes. Its views are
    stored as before, so that `writer allow` brings it back with the next generation. A video or a
    channel that is not known yet is kept out, too. Again, it replaces the reason.
    TEXT;

    #[Override]
    protected function configure(): void
    {
        $this->addArgument(
            'name',
            InputArgument::REQUIRED,
            'The id of the video; one that starts with a hyphen goes after --',
        )
            ->addOption(
                'channel',
                mode: InputOption::VALUE_NONE,
                description: 'All videos of a channel: the name is the channel\'s, exactly',
            )
            ->addOption(
                'reason',
                mode: InputOption::VALUE_REQUIRED,
                description: 'Why, for those who ask later; at most 300 characters',
                default: Removals::NO_REASON,
            )
            ->setHelp(self::HELP);
    }

    #[Override]
    protected function handle(InputInterface $input, Context $context): ExitCode
    {
        $subject = RemovalSubject::read($input);
        $reason = $input->getOption('reason');

        return new WriteSession('remove', $context)->run(static function (Database $database) use (
            $context,
            $reason,
            $subject,
        ): ExitCode {
            new Removals($database)->remove($subject->kind, $subject->name, $reason, $context->now());
            $context->log->info("Removed $subject: edges serve it for at most 15 minutes more.", [
                'event' => 'removed',
                $subject->kind->value => $subject->name,
                'reason' => $reason,
            ]);
            $subject->warnIfUnknown($database, $context->log);

            return ExitCode::Ok;
        });
    }
}
