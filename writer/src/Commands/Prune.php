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

final readonly class Prune implements Command
{
    #[Override]
    public function description(): Description
    {
        return new Description('prune', 'drops generations and observations past keeping, and checkpoints');
    }

    #[Override]
    public function run(Arguments $arguments, Context $context): ExitCode
    {
        $arguments->expectNoOperands();

        return WriteSession::run('prune', $context, static function (Database $database) use (
            $context,
        ): ExitCode {
            new PruneStep($context, $database)->run();

            return ExitCode::Ok;
        });
    }
}
