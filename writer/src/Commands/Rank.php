<?php

declare(strict_types=1);

namespace TrendVault\Writer\Commands;

use Override;
use Symfony\Component\Console\Attribute\AsCommand;
use Symfony\Component\Console\Input\InputInterface;
use Symfony\Component\Console\Input\InputOption;
use TrendVault\Writer\Cli\Context;
use TrendVault\Writer\Cli\ExitCode;
use TrendVault\Writer\Cli\UsageError;
use TrendVault\Writer\Cli\WriterCommand;
use TrendVault\Writer\Database\Database;
use TrendVault\Writer\Ranking\RankingPublisher;
use TrendVault\Writer\Time\Rfc3339;

#[AsCommand('rank', 'Ranks the videos and publishes all lists as a new generation')]
final class Rank extends WriterCommand
{
    #[Override]
    protected function configure(): void
    {
        $this->addOption(
            'at',
            mode: InputOption::VALUE_REQUIRED,
            description: 'Rank as of this RFC 3339 time (or now), without comparing it with the newest generation',
        )
            ->addOption(
                'yes',
                mode: InputOption::VALUE_NONE,
                description: 'Do not ask before a generation of the future is published',
            )
            ->addOption(
                'allow-empty',
                mode: InputOption::VALUE_NONE,
                description: 'Publish although a market that has a list would have none',
            );
    }

    #[Override]
    protected function handle(InputInterface $input, Context $context): ExitCode
    {
        $at = self::time($input->getOption('at'), $context);
        if (!$input->getOption('yes')) {
            self::confirm($at, $context);
        }

        $allowsEmpty = $input->getOption('allow-empty');

        return new WriteSession('rank', $context)->run(static function (Database $database) use (
            $allowsEmpty,
            $context,
            $at,
        ): ExitCode {
            new RankStep($context, $database)->run($at, $allowsEmpty);

            return ExitCode::Ok;
        });
    }

    /** Or `cron` would publish nothing until that time. */
    private static function confirm(?int $at, Context $context): void
    {
        if ($at === null || $at <= $context->now() + RankingPublisher::CLOCK_TOLERANCE_SECONDS) {
            return;
        }
        $future = Rfc3339::format($at) . ' is in the future: nothing newer is published until then.';
        match ($context->confirm("$future Publish?")) {
            true => null,
            false => throw UsageError::because('Nothing was published: the answer was not yes.'),
            null => throw UsageError::because("Nothing was published: $future Give --yes if it is meant."),
        };
    }

    private static function time(?string $text, Context $context): ?int
    {
        return match ($text) {
            null => null,
            'now' => $context->now(),
            default => Rfc3339::parse($text) ??
                throw UsageError::because(
                    "Cannot read --at $text: expected a time like 2026-11-20T10:00:00Z, or now.",
                ),
        };
    }
}
