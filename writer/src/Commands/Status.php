<?php

declare(strict_types=1);

namespace TrendVault\Writer\Commands;

use Override;
use TrendVault\Writer\Cli\Arguments;
use TrendVault\Writer\Cli\Command;
use TrendVault\Writer\Cli\Context;
use TrendVault\Writer\Cli\Description;
use TrendVault\Writer\Cli\ExitCode;
use TrendVault\Writer\Cli\Option;
use TrendVault\Writer\Cli\UsageError;
use TrendVault\Writer\Status\StatusReport;

final readonly class Status implements Command
{
    #[Override]
    public function description(): Description
    {
        return new Description(
            'status',
            'says what is in the database, how fresh it is and how the last run went',
            [
                new Option('json', 'one JSON object, for machines'),
                new Option(
                    'max-age',
                    'exit with 1 when the newest generation is older than this, or there is none',
                    'SECONDS',
                ),
            ],
        );
    }

    #[Override]
    public function run(Arguments $arguments, Context $context): ExitCode
    {
        $arguments->expectNoOperands();
        $maxAge = self::seconds($arguments->value('max-age'));
        $report = StatusReport::of(
            ReadSession::open($context),
            $context->settings->databasePath,
            $context->clock->now(),
            ExitCode::labels(),
        );
        $context->streams->write($arguments->has('json') ? $report->json() : $report->text());
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
