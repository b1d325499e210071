<?php

declare(strict_types=1);

namespace TrendVault\Writer\Commands;

use Override;
use Symfony\Component\Console\Attribute\AsCommand;
use Symfony\Component\Console\Input\InputArgument;
use Symfony\Component\Console\Input\InputInterface;
use TrendVault\Writer\Cli\Context;
use TrendVault\Writer\Cli\WriterCommand;
use TrendVault\Writer\ExitCode;
use TrendVault\Writer\Explain\Explanation;
use TrendVault\Writer\Explain\ExplanationReport;
use TrendVault\Writer\WriterException;

#[AsCommand('explain', 'Shows why a video has its rank in a region')]
final class Explain extends WriterCommand
{
    #[Override]
    protected function configure(): void
    {
        $this->addArgument('region', InputArgument::REQUIRED, 'The region, for example GB')->addArgument(
            'video',
            InputArgument::REQUIRED,
            'The id of the video; one that starts with a hyphen goes after --',
        );
    }

    #[Override]
    protected function handle(InputInterface $input, Context $context): ExitCode
    {
        [$region, $videoId] = [strtoupper(self::argument($input, 'region')), self::argument($input, 'video')];
        $database = $context->openForReading();
        $known = array_keys($context->settings->regions()->ownership());
        if (!in_array($region, $known, true)) {
            throw WriterException::usage(
                "Unknown region $region: expected one of " . implode(', ', $known) . '.',
            );
        }
        $explanation =
            Explanation::find($database, $region, $videoId) ??
            throw WriterException::usage(
                "Nothing to explain: video $videoId was neither observed nor announced in $region, or nothing was published yet.",
            );
        $lines = explode("\n", new ExplanationReport($explanation)->text());
        $context->write(implode("\n", array_map(self::visible(...), $lines)));

        return ExitCode::Ok;
    }
}
