<?php

declare(strict_types=1);

namespace TrendVault\Writer\Ingest;

use TrendVault\Writer\Cli\Context;
use TrendVault\Writer\Cli\ExitCode;
use TrendVault\Writer\Database\Database;
use TrendVault\Writer\Database\Regions;
use TrendVault\Writer\Database\Run;
use TrendVault\Writer\Observations\ObservationParser;
use TrendVault\Writer\Sources\Source;
use TrendVault\Writer\Sources\SourceFailure;
use TrendVault\Writer\Sources\SourceList;

/** Ingests sources one after the other; one that fails does not keep the others from being read. */
final readonly class IngestJob
{
    public function __construct(private Context $context, private Database $database, private Run $run)
    {
    }

    /**
     * @param list<string> $words what names the sources
     * @param int $shiftSeconds what every time is moved by
     */
    public function ingest(array $words, int $shiftSeconds = 0): ExitCode
    {
        $parser = new ObservationParser(
            array_fill_keys(Regions::codes($this->database), true),
            $this->context->clock->now(),
            $shiftSeconds,
        );
        $ingestion = new Ingestion($this->database, $this->run, $parser);
        $exitCode = ExitCode::Ok;
        foreach ($words as $word) {
            try {
                foreach (SourceList::open($word, $this->context, $this->database) as $source) {
                    $this->ingestOne($source, $ingestion);
                }
            } catch (SourceFailure $failure) {
                $this->context->log->error('source_failed', $failure->getMessage(), ['source' => $word]);
                $exitCode = $failure->exitCode;
            }
        }

        return $exitCode;
    }

    /** @throws SourceFailure */
    private function ingestOne(Source $source, Ingestion $ingestion): void
    {
        $aside = new SetAside($this->context->settings->rejectedFolder(), "{$source->name()}-{$this->run->id}");
        $tally = new Tally();
        $started = hrtime(true);
        try {
            $ingestion->ingest($source, $aside, $tally);
        } finally {
            $this->report($source, $tally, $aside, (hrtime(true) - $started) / 1e9);
        }
    }

    private function report(Source $source, Tally $tally, SetAside $aside, float $seconds): void
    {
        $counts = ['accepted' => 0, 'unchanged' => 0, 'late' => 0, 'conflicting' => 0, ...$tally->outcomes];
        $sentence = "{$source->name()}: " . implode(', ', array_map(
            static fn (string $name, int $count): string => number_format($count) . " $name",
            array_keys($counts),
            $counts,
        )) . ', ' . number_format($tally->rejected()) . sprintf(' set aside, in %.1f s', $seconds);
        $this->context->log->info('ingested', "$sentence.", ['source' => $source->name(), ...$counts, 'rejected' => $tally->rejections, 'seconds' => round($seconds, 3)]);
        if ($aside->path() !== null) {
            $this->context->log->warn('set_aside', "Set aside lines of {$source->name()} in {$aside->path()}; the report is beside it.", ['path' => $aside->path()]);
        }
    }
}
