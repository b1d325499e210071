<?php

declare(strict_types=1);

namespace TrendVault\Writer\Commands;

use Override;
use TrendVault\Writer\Backtest\Backtest as Run;
use TrendVault\Writer\Backtest\BacktestReport;
use TrendVault\Writer\Backtest\Replay;
use TrendVault\Writer\Cli\Arguments;
use TrendVault\Writer\Cli\Command;
use TrendVault\Writer\Cli\Context;
use TrendVault\Writer\Cli\Description;
use TrendVault\Writer\Cli\ExitCode;
use TrendVault\Writer\Cli\Option;
use TrendVault\Writer\Cli\ProgressBar;
use TrendVault\Writer\Cli\UsageError;
use TrendVault\Writer\Database\Database;
use TrendVault\Writer\Database\Migrator;
use TrendVault\Writer\Database\Regions;
use TrendVault\Writer\Observations\Observation;
use TrendVault\Writer\Observations\ObservationParser;
use TrendVault\Writer\Observations\RejectedLine;
use TrendVault\Writer\Sources\NdjsonFile;
use TrendVault\Writer\Sources\SourceFailure;
use TrendVault\Writer\Time\Rfc3339;

final readonly class Backtest implements Command
{
    private const string DETAILS = <<<'TEXT'
    Replays the files day by day in a database of its own, through the code that ingests and ranks,
    and asks of each day: of the 24 videos that gained most views on the next day, how many did the
    first 24 name (recall), and how good is their order (NDCG)? Asked are videos seen on both days.
    TEXT;

    #[Override]
    public function description(): Description
    {
        return new Description(
            'backtest',
            'says how well each day\'s ranking named the next day\'s gainers',
            [
                new Option('from', 'count days from this UTC date on; earlier ones are history', 'DATE'),
                new Option('json', 'one JSON object, for machines'),
            ],
            'FILE…',
            self::DETAILS,
        );
    }

    #[Override]
    public function run(Arguments $arguments, Context $context): ExitCode
    {
        if ($arguments->operands === []) {
            throw UsageError::because('Expected at least one file of observations.');
        }
        $from = self::date($arguments->value('from'));
        $database = Database::inMemory();
        Migrator::of($database, $context->settings->migrationsFolder(), $context->clock)->migrate();
        Regions::seed($database, $context->settings->regionsFile());

        $observations = self::read(
            $arguments->operands,
            new ObservationParser(array_fill_keys(Regions::codes($database), true), $context->clock->now()),
        );
        $bar = ProgressBar::onStandardError('Replaying');
        $results = new Run(new Replay($database, $context->settings->leaveAfterHours))->run(
            $observations,
            $from,
            $bar->advance(...),
        );
        $bar->finish();
        if ($results === []) {
            throw SourceFailure::because(
                'Cannot backtest: expected videos that were seen on two days in a row, found none.',
            );
        }
        $report = new BacktestReport($results);
        $context->streams->write($arguments->has('json') ? $report->json() : $report->text());

        return ExitCode::Ok;
    }

    private static function date(?string $text): int
    {
        return $text === null
            ? 0
            : Rfc3339::parse("{$text}T00:00:00Z") ??
                    throw UsageError::because(
                        "Cannot read --from $text: expected a date, for example 2017-10-03.",
                    );
    }

    /**
     * @param list<string> $paths
     * @return list<Observation> without the lines that ingest would reject
     * @throws SourceFailure
     */
    private static function read(array $paths, ObservationParser $parser): array
    {
        $observations = [];
        foreach ($paths as $path) {
            foreach (new NdjsonFile($path)->lines() as $line) {
                try {
                    $observations[] = is_string($line) ? $parser->parse($line) : null;
                } catch (RejectedLine) {
                    continue;
                }
            }
        }

        return array_values(array_filter($observations));
    }
}
