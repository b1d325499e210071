<?php

declare(strict_types=1);

namespace TrendVault\Writer\Commands;

use TrendVault\Writer\Cli\Context;
use TrendVault\Writer\Cli\ExitCode;
use TrendVault\Writer\Cli\Settings;
use TrendVault\Writer\Database\Database;
use TrendVault\Writer\Database\IntegrityCheck;

/** Checks the database once a day and logs what was found. */
final readonly class CheckStep
{
    public function __construct(private Context $context, private Database $database) {}

    /** Null unless damage was found now. */
    public function run(): ?ExitCode
    {
        $check = new IntegrityCheck($this->database);
        $now = $this->context->now();
        if (!$check->isDue($now)) {
            return null;
        }
        $path = $this->context->settings->databasePath;
        $command = [PHP_BINARY, Settings::projectRoot() . '/writer/src/main.php', 'check', '--db', $path];
        $found = $check->run($command, ExitCode::DatabaseUnavailable->value, $now);
        $facts = ['event' => "database_$found->result", 'detail' => $found->detail];
        match ($found->result) {
            'damaged' => $this->context->log->error(
                "$path is damaged. Restore a backup, see docs/operations.md: $found->detail",
                $facts,
            ),
            'unfinished' => $this->context->log->warning(
                "$path could not be checked: $found->detail. Run `writer check`.",
                $facts,
            ),
            default => null,
        };

        return $found->result === 'damaged' ? ExitCode::DatabaseUnavailable : null;
    }
}
