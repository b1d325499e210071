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
use TrendVault\Writer\Database\Database;
use TrendVault\Writer\Time\Rfc3339;

final readonly class Rank implements Command
{
    #[Override]
    public function description(): Description
    {
        return new Description('rank', 'publishes a generation of all lists', [
            new Option(
                'at',
                'rank as of this RFC 3339 time (or now), whatever the last generation says',
                'TIME',
            ),
        ]);
    }

    #[Override]
    public function run(Arguments $arguments, Context $context): ExitCode
    {
        $arguments->expectNoOperands();
        $at = self::time($arguments->value('at'), $context);

        return WriteSession::run('rank', $context, static function (Database $database) use (
            $context,
            $at,
        ): ExitCode {
            new RankStep($context, $database)->run($at);

            return ExitCode::Ok;
        });
    }

    private static function time(?string $text, Context $context): ?int
    {
        return match ($text) {
            null => null,
            'now' => $context->clock->now(),
            default => Rfc3339::parse($text) ??
                throw UsageError::because(
                    "Cannot read --at $text: expected a time like 2026-11-20T10:00:00Z, or now.",
                ),
        };
    }
}
