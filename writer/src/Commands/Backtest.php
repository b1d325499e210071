<?php

declare(strict_types=1);

namespace TrendVault\Writer\Commands;

use Override;
use Symfony\Component\Console\Attribute\AsCommand;
use Symfony\Component\Console\Input\InputArgument;
use Symfony\Component\Console\Input\InputInterface;
use Symfony\Component\Console\Input\InputOption;
use TrendVault\Writer\Backtest\BacktestReport;
use TrendVault\Writer\Backtest\Replay;
use TrendVault\Writer\Cli\Context;
use TrendVault\Writer\Cli\WriterCommand;
use TrendVault\Writer\Database\Database;
use TrendVault\Writer\Database\Migrator;
use TrendVault\Writer\ExitCode;
use TrendVault\Writer\Observations\Observation;
use TrendVault\Writer\Observations\ObservationParser;
use TrendVault\Writer\Observations\RejectedLine;
use TrendVault\Writer\Sources\NdjsonFile;
use TrendVault\Writer\Sources\SourceFailure;
use TrendVault\Writer\Time\Rfc3339;
use TrendVault\Writer\WriterException;

#[AsCommand('backtest', 'Measures how well each day\'s ranking predicted the next day\'s most viewed videos')]
final class Backtest extends WriterCommand
{
    private const string HELP = <<<'TEXT'
    Replays the files day by day into a database in memory, with the code that ingests and ranks.
    recall@24 is the share of the 24 videos that gained most views on the next day that the first 24 ranks
    contain; NDCG@24 rates their order. Only videos that were observed on both days count.
    TEXT;

    #[Override]
    protected function configure(): void
    {
        $this->addArgument(
            'files',
            InputArgument::IS_ARRAY | InputArgument::REQUIRED,
            'Observations as NDJSON, plain or gzip',
        )
            ->addOption(
                'from',
                mode: InputOption::VALUE_REQUIRED,
                description: 'The first day to measure, a UTC date; earlier days are history only',
            )
            ->addOption('json', mode: InputOption::VALUE_NONE, description: 'Print one JSON object')
            ->setHelp(self::HELP);
    }

    #[Override]
    protected function handle(InputInterface $input, Context $context): ExitCode
    {
        $from = self::date(self::option($input, 'from'));
        $database = Database::inMemory();
        Migrator::of($database, $context->settings->migrationsFolder(), $context->clock)->migrate();
        $table = $context->settings->regionTable();
        $table->seed($database);

        $observations = self::read(
            self::arguments($input, 'files'),
            new ObservationParser($table->ownership(), $context->now()),
        );
        $bar = $context->progressBar('Replaying');
        $results = new Replay($database)->run(
            $observations,
            $from,
            static fn(float $regions) => $bar?->setProgress((int) (100 * $regions)),
        );
        $bar?->clear();
        if ($results === []) {
            throw SourceFailure::because(
                'Cannot backtest: expected videos that were observed on two days in a row, found none.',
            );
        }
        $report = new BacktestReport($results);
        $context->write(self::isGiven($input, 'json') ? $report->json() : $report->text());

        return ExitCode::Ok;
    }

    private static function date(?string $text): int
    {
        return $text === null
            ? 0
            : Rfc3339::parse("{$text}T00:00:00Z") ??
                    throw WriterException::usage(
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
                    $parsed = is_string($line) ? $parser->parse($line) : null;
                } catch (RejectedLine) {
                    continue;
                }
                if ($parsed instanceof Observation) {
                    $observations[] = $parsed;
                }
            }
        }

        return $observations;
    }
}
