<?php

declare(strict_types=1);

namespace TrendVault\Writer\Commands;

use Override;
use Symfony\Component\Console\Attribute\AsCommand;
use Symfony\Component\Console\Input\InputInterface;
use Symfony\Component\Console\Input\InputOption;
use TrendVault\Writer\Cli\Context;
use TrendVault\Writer\Cli\ExitCode;
use TrendVault\Writer\Cli\RegionSettings;
use TrendVault\Writer\Cli\UsageError;
use TrendVault\Writer\Cli\WriterCommand;
use TrendVault\Writer\Cli\YouTubeSettings;
use TrendVault\Writer\Sources\Schedule;
use TrendVault\Writer\Sources\YouTube\YouTubeSource;
use TrendVault\Writer\Status\MetricsReport;
use TrendVault\Writer\Status\StatusReport;

#[AsCommand('status', 'Shows what is in the database, how old it is and how the last run ended')]
final class Status extends WriterCommand
{
    #[Override]
    protected function configure(): void
    {
        $this->addOption('json', mode: InputOption::VALUE_NONE, description: 'Print one JSON object')
            ->addOption(
                'prometheus',
                mode: InputOption::VALUE_NONE,
                description: 'Print metrics in the text format of Prometheus',
            )
            ->addOption(
                'max-age',
                mode: InputOption::VALUE_REQUIRED,
                description: 'Exit with code 1 when there is no generation, or the newest one is older than this many seconds',
            );
    }

    #[Override]
    protected function handle(InputInterface $input, Context $context): ExitCode
    {
        $maxAge = self::seconds($input->getOption('max-age'));
        $database = ReadSession::open($context);
        $path = $context->settings->databasePath;
        $schedule = new Schedule(
            $database,
            YouTubeSource::NAME,
            YouTubeSettings::intervalSeconds($context->settings),
        );
        $share = RegionSettings::of($context->settings);
        $report = StatusReport::of(
            $database,
            $path,
            $context->now(),
            ExitCode::labels(),
            $schedule->pause($context->now()),
            $share,
        );
        $context->write(
            match (true) {
                $input->getOption('prometheus') => MetricsReport::text(
                    $database,
                    $path,
                    $context->now(),
                    $share,
                ),
                $input->getOption('json') => $report->json(),
                default => $report->text(),
            },
        );
        $age = $report->generationAgeSeconds();

        return $maxAge !== null && ($age === null || $age > $maxAge) ? ExitCode::Stale : ExitCode::Ok;
    }

    private static function seconds(?string $text): ?int
    {
        return $text === null || ctype_digit($text)
            ? ($text === null
                ? null
                : (int) $text)
            : throw UsageError::because(
                "Cannot read --max-age $text: expected whole seconds, for example 300.",
            );
    }
}
