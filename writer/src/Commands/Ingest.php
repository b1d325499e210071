<?php

declare(strict_types=1);

namespace TrendVault\Writer\Commands;

use Override;
use Symfony\Component\Console\Attribute\AsCommand;
use Symfony\Component\Console\Input\InputArgument;
use Symfony\Component\Console\Input\InputInterface;
use Symfony\Component\Console\Input\InputOption;
use TrendVault\Writer\Cli\Context;
use TrendVault\Writer\Cli\ExitCode;
use TrendVault\Writer\Cli\RegionSettings;
use TrendVault\Writer\Cli\UsageError;
use TrendVault\Writer\Cli\WriterCommand;
use TrendVault\Writer\Database\Database;
use TrendVault\Writer\Database\RegionShare;
use TrendVault\Writer\Database\Run;
use TrendVault\Writer\Ingest\TimeShift;
use TrendVault\Writer\Observations\ObservationParser;
use TrendVault\Writer\Sources\Edge\EdgeUrl;

#[AsCommand('ingest', 'Stores view counts from sources')]
final class Ingest extends WriterCommand
{
    private const string HELP = <<<'TEXT'
    A source is a file of NDJSON (plain or gzip), a folder of such files, spool:FOLDER, - for standard
    input, demo, youtube, peertube:https://… for the videos of an instance, http:https://… for a file on
    another server, or edge:https://… for what visitors of the lists did. Lines that cannot be stored
    are written to rejected/ beside the database, the first 64 MiB of a file.
    Use --shift-to-now with an empty database: data that is shifted twice is stored twice.
    TEXT;

    #[Override]
    protected function configure(): void
    {
        $this->addArgument(
            'sources',
            InputArgument::IS_ARRAY | InputArgument::REQUIRED,
            'Files, folders, spool:FOLDER, -, demo, youtube, peertube:URL, http:URL or edge:URL',
        )
            ->addOption(
                'shift-to-now',
                mode: InputOption::VALUE_NONE,
                description: 'Shift all times so that the newest observation is now',
            )
            ->setHelp(self::HELP);
    }

    #[Override]
    protected function handle(InputInterface $input, Context $context): ExitCode
    {
        $names = $input->getArgument('sources');
        $shifts = $input->getOption('shift-to-now');
        if ($shifts && in_array('-', $names, true)) {
            throw UsageError::because(
                'Cannot use --shift-to-now with -: it reads a source twice, and standard input can be read only once. Save the lines to a file.',
            );
        }

        if (
            $shifts &&
            array_any($names, static fn(string $name): bool => str_starts_with($name, EdgeUrl::PREFIX))
        ) {
            throw UsageError::because(
                'Cannot use --shift-to-now with edge: what visitors did is counted at its own time.',
            );
        }

        return new WriteSession('ingest', $context)->run(static function (Database $database, Run $run) use (
            $context,
            $shifts,
            $names,
        ): ExitCode {
            if ($shifts && $database->rows('SELECT 1 FROM velocity LIMIT 1') !== []) {
                $context->log->warning(
                    'The database has observations already: data that was shifted before is stored a second time, with new times.',
                    ['event' => 'database_not_empty'],
                );
            }
            $shiftSeconds = $shifts ? self::shiftSeconds($names, $context, $database) : 0;

            return new IngestStep($context, $database, $run)->run($names, $shiftSeconds);
        });
    }

    /** @param list<string> $names of sources */
    private static function shiftSeconds(array $names, Context $context, Database $database): int
    {
        $sources = array_merge(
            ...array_map(
                static fn(string $name): array => SourceFactory::open($name, $context, $database),
                $names,
            ),
        );
        $now = $context->now();

        return TimeShift::toNow(
            $sources,
            new ObservationParser(
                RegionShare::whole(RegionSettings::table($context->settings))->ownership(),
                $now,
            ),
            $now,
        );
    }
}
