<?php

declare(strict_types=1);

namespace TrendVault\Writer\Commands;

use Override;
use TrendVault\Writer\Cli\Arguments;
use TrendVault\Writer\Cli\Command;
use TrendVault\Writer\Cli\Context;
use TrendVault\Writer\Cli\Description;
use TrendVault\Writer\Cli\ExitCode;
use TrendVault\Writer\Database\Database;
use TrendVault\Writer\Database\Run;

final readonly class Cron implements Command
{
    #[Override]
    public function description(): Description
    {
        return new Description(
            'cron',
            'migrates, ingests SOURCES, ranks and prunes; what crontab calls every minute',
            details: 'A source that fails is reported by the exit code, after the others were ingested and a generation was published.',
        );
    }

    #[Override]
    public function run(Arguments $arguments, Context $context): ExitCode
    {
        $arguments->expectNoOperands();
        $work = static function (Database $database, Run $run) use ($context): ExitCode {
            $exitCode = new IngestStep($context, $database, $run)->run($context->settings->sources);
            new RankStep($context, $database)->run();
            new PruneStep($context, $database)->run();

            return $exitCode;
        };

        return WriteSession::migrateAndRun('cron', $context, $work, waitSeconds: 0);
    }
}
