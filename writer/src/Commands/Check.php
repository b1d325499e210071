<?php

declare(strict_types=1);

namespace TrendVault\Writer\Commands;

use Override;
use Symfony\Component\Console\Attribute\AsCommand;
use Symfony\Component\Console\Input\InputInterface;
use TrendVault\Writer\Cli\Context;
use TrendVault\Writer\Cli\Settings;
use TrendVault\Writer\Cli\WriterCommand;
use TrendVault\Writer\Database\Database;
use TrendVault\Writer\Database\IntegrityCheck;
use TrendVault\Writer\ExitCode;

#[AsCommand('check', 'Reads the whole database and says whether it is damaged')]
final class Check extends WriterCommand
{
    #[Override]
    protected function configure(): void
    {
        $this->setHelp(
            'Only reads, takes no lock and has no time limit. `writer cron` does this once a day, for at most 30 seconds;' .
                ' `writer status` has the result. The exit code is 5 when the file is damaged.',
        );
    }

    #[Override]
    protected function handle(InputInterface $input, Context $context): ExitCode
    {
        $problems = new IntegrityCheck($context->openForReading())->problems();
        $context->write($problems === [] ? "The database is whole.\n" : implode("\n", $problems) . "\n");

        return $problems === [] ? ExitCode::Ok : ExitCode::DatabaseUnavailable;
    }

    /** Checks once a day and logs what was found. Null unless damage was found now. */
    public static function daily(Context $context, Database $database): ?ExitCode
    {
        $check = new IntegrityCheck($database);
        $now = $context->now();
        if (!$check->isDue($now)) {
            return null;
        }
        $path = $context->settings->databasePath;
        $command = [PHP_BINARY, Settings::projectRoot() . '/writer/src/main.php', 'check', '--db', $path];
        [$found, $detail] = $check->run($command, ExitCode::DatabaseUnavailable->value, $now);
        $facts = ['event' => "database_$found", 'detail' => $detail];
        match ($found) {
            'damaged' => $context->log->error(
                "$path is damaged. Restore a backup, see docs/operations.md: $detail",
                $facts,
            ),
            'unfinished' => $context->log->warning(
                "$path could not be checked: $detail. Run `writer check`.",
                $facts,
            ),
            default => null,
        };

        return $found === 'damaged' ? ExitCode::DatabaseUnavailable : null;
    }
}
