<?php

declare(strict_types=1);

namespace TrendVault\Writer\Ingest;

use Closure;
use TrendVault\Writer\Cli\Context;
use TrendVault\Writer\Cli\ExitCode;
use TrendVault\Writer\Cli\ProgressBar;
use TrendVault\Writer\Database\Database;
use TrendVault\Writer\Database\Regions;
use TrendVault\Writer\Database\Run;
use TrendVault\Writer\Observations\ObservationParser;
use TrendVault\Writer\Sources\Settles;
use TrendVault\Writer\Sources\Source;
use TrendVault\Writer\Sources\SourceFailure;
use TrendVault\Writer\Sources\SourceList;
use TrendVault\Writer\Sources\SpoolFile;

/** Ingests sources one after the other; one that fails does not keep the others from being read. */
final readonly class IngestJob
{
    public function __construct(private Context $context, private Database $database, private Run $run) {}

    /**
     * @param list<string> $words what names the sources
     * @param int $shiftSeconds what every time is moved by
     */
    public function ingest(array $words, int $shiftSeconds = 0): ExitCode
    {
        $regions = array_fill_keys(Regions::codes($this->database), true);
        $parser = new ObservationParser($regions, $this->context->clock->now(), $shiftSeconds);
        $ingestion = new Ingestion($this->database, $this->run, $parser);
        $exitCode = ExitCode::Ok;
        foreach ($words as $word) {
            $exitCode = $this->ingestWord($word, $ingestion) ?? $exitCode;
        }

        return $exitCode;
    }

    /** Null when all went well. */
    private function ingestWord(string $word, Ingestion $ingestion): ?ExitCode
    {
        try {
            $sources = SourceList::open($word, $this->context, $this->database);
        } catch (SourceFailure $failure) {
            return $this->report($word, $failure);
        }
        $exitCode = null;
        foreach ($sources as $source) {
            $exitCode = $this->ingestOne($source, $ingestion) ?? $exitCode;
        }

        return $exitCode;
    }

    private function ingestOne(Source $source, Ingestion $ingestion): ?ExitCode
    {
        $aside =
            $source instanceof SpoolFile
                ? $source->setAside()
                : SetAside::lines(
                    $this->context->settings->rejectedFolder(),
                    "{$source->name()}-{$this->run->id}",
                );
        [$tally, $started] = [new Tally(), hrtime(true)];
        $bar = ProgressBar::onStandardError("Reading {$source->name()}");
        $failure = self::attempt(
            static fn() => $ingestion->ingest($source, $aside, $tally, $bar->advance(...)),
        );
        $bar->finish();
        new IngestReport($source->name(), $tally, $aside, (hrtime(true) - $started) / 1e9)->log(
            $this->context->log,
        );
        if ($source instanceof Settles && !($failure instanceof SetAsideFailure)) {
            $clean = $failure === null && $tally->rejected() === 0;
            $failure = self::attempt(static fn() => $source->settle($clean)) ?? $failure;
        }

        return $failure === null ? null : $this->report($source->name(), $failure);
    }

    /** @param Closure(): void $work */
    private static function attempt(Closure $work): SourceFailure|SetAsideFailure|null
    {
        try {
            $work();

            return null;
        } catch (SourceFailure | SetAsideFailure $failure) {
            return $failure;
        }
    }

    private function report(string $source, SourceFailure|SetAsideFailure $failure): ExitCode
    {
        $this->context->log->error('source_failed', $failure->getMessage(), ['source' => $source]);

        return $failure->exitCode;
    }
}
