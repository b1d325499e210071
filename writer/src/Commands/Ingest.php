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
use TrendVault\Writer\Database\Regions;
use TrendVault\Writer\Database\Run;
use TrendVault\Writer\Ingest\TimeShift;
use TrendVault\Writer\Observations\ObservationParser;

final readonly class Ingest implements Command
{
    private const string DETAILS = <<<'TEXT'
    A SOURCE is a file of NDJSON (plain or gzip), a folder of such files, - for standard input,
    or demo. Lines that cannot be stored are rejected: they are in rejected/ beside the database.
    --shift-to-now is for an empty database: the same data, moved to now again, is stored twice.
    TEXT;

    #[Override]
    public function description(): Description
    {
        return new Description(
            'ingest',
            'stores view counts from sources',
            [new Option('shift-to-now', 'move all times, so that the newest observation is now')],
            'SOURCE…',
            self::DETAILS,
        );
    }

    #[Override]
    public function run(Arguments $arguments, Context $context): ExitCode
    {
        if ($arguments->operands === []) {
            throw UsageError::because('Expected at least one source: a file, a folder, - or demo.');
        }
        $shifts = $arguments->has('shift-to-now');
        if ($shifts && in_array('-', $arguments->operands, true)) {
            throw UsageError::because(
                '--shift-to-now reads a source twice, standard input can be read once: save it to a file.',
            );
        }

        return WriteSession::run('ingest', $context, static function (Database $database, Run $run) use (
            $arguments,
            $context,
            $shifts,
        ): ExitCode {
            if ($shifts && $database->rows('SELECT 1 FROM velocity LIMIT 1') !== []) {
                $context->log->warn(
                    'shift_into_filled_database',
                    'The database holds observations already: the same data, moved to now again, is stored a second time with new times.',
                );
            }
            $shiftSeconds = $shifts ? self::shiftSeconds($arguments->operands, $context, $database) : 0;

            return new IngestStep($context, $database, $run)->run($arguments->operands, $shiftSeconds);
        });
    }

    /** @param list<string> $words */
    private static function shiftSeconds(array $words, Context $context, Database $database): int
    {
        $sources = array_merge(
            ...array_map(
                static fn(string $word): array => SourceFactory::open($word, $context, $database),
                $words,
            ),
        );
        $now = $context->clock->now();

        return TimeShift::toNow(
            $sources,
            new ObservationParser(array_fill_keys(Regions::codes($database), true), $now),
            $now,
        );
    }
}
