<?php

declare(strict_types=1);

namespace TrendVault\Writer\Ingest;

use Closure;
use Generator;
use SQLite3Exception;
use TrendVault\Writer\Database\Database;
use TrendVault\Writer\Database\DatabaseFailure;
use TrendVault\Writer\Database\DatabaseFault;
use TrendVault\Writer\Database\Run;
use TrendVault\Writer\Observations\RejectionReason;
use TrendVault\Writer\Sources\ClaimableSource;
use TrendVault\Writer\Sources\RejectStore;
use TrendVault\Writer\Sources\RejectStoreFailure;
use TrendVault\Writer\Sources\RemoteSource;
use TrendVault\Writer\Sources\Source;
use TrendVault\Writer\Sources\SourceFailure;
use TrendVault\Writer\Sources\Stopped;
use TrendVault\Writer\Sources\StopSignals;
use TrendVault\Writer\WriterException;

/** Ingests a whole source and tells the source when its lines are committed. */
final readonly class SourceIngestion
{
    /** @param string $rejectedFolder where rejected lines go, unless the source itself keeps them */
    public function __construct(
        private BatchStore $store,
        private string $rejectedFolder,
        private int $runId,
    ) {}

    /**
     * A failure of the source is in the result, so that the caller can go on with the next source.
     *
     * @throws Stopped
     * @param Closure(?float): void $progress is called after each batch with the share that was read, from 0 to 1
     */
    public function ingest(Source $source, Closure $progress): SourceResult
    {
        if (!($source instanceof ClaimableSource)) {
            return $this->ingestClaimed($source, $progress);
        }
        StopSignals::hold();
        try {
            return $this->ingestClaimed($source, $progress);
        } finally {
            StopSignals::release();
        }
    }

    /** @param Closure(?float): void $progress */
    private function ingestClaimed(Source $source, Closure $progress): SourceResult
    {
        [$counts, $started] = [new LineCounts(), hrtime(true)];
        if ($source instanceof ClaimableSource) {
            $failure = self::attempt($source->claim(...));
            if ($failure !== null) {
                return new SourceResult($source->name(), $counts, null, 0.0, $failure);
            }
        }
        $rejects = $source->rejects() ?? $this->rejectsOf($source);
        $failure = $this->storeAndSettle($source, $rejects, $counts, $progress);
        $report = $counts->rejected() > 0 ? $rejects->reportPath() : null;

        return new SourceResult($source->name(), $counts, $report, (hrtime(true) - $started) / 1e9, $failure);
    }

    private function rejectsOf(Source $source): RejectStore
    {
        return $source instanceof RemoteSource
            ? RejectStore::latest($this->rejectedFolder, $source->ownName())
            : RejectStore::lines($this->rejectedFolder, "{$source->name()}-$this->runId");
    }

    /** @param Closure(?float): void $progress */
    private function storeAndSettle(
        Source $source,
        RejectStore $rejects,
        LineCounts $counts,
        Closure $progress,
    ): SourceFailure|RejectStoreFailure|null {
        try {
            $failure = self::attempt(fn() => $this->storeLines($source, $rejects, $counts, $progress));
        } catch (Stopped $stopped) {
            self::release($source);
            throw $stopped;
        } catch (SQLite3Exception $failure) {
            // A line that the database does not take would be there in the next run, too.
            if (DatabaseFailure::from($failure, '')->fault !== DatabaseFault::Unknown) {
                self::release($source);
            }
            throw $failure;
        }
        if ($failure !== null) {
            $rejects->fail($failure->getMessage());
        }
        $unkept = self::attempt($rejects->finish(...));
        if ($unkept !== null) {
            self::release($source);

            return $unkept;
        }
        $clean = $failure === null && $counts->rejected() === 0;

        return self::attempt(static fn() => $source->settle($clean)) ?? $failure;
    }

    private static function release(Source $source): void
    {
        if ($source instanceof ClaimableSource) {
            $source->release();
        }
    }

    /**
     * @param Closure(?float): void $progress
     * @throws SourceFailure when the source stopped early; the lines that it gave are stored
     */
    private function storeLines(
        Source $source,
        RejectStore $rejects,
        LineCounts $counts,
        Closure $progress,
    ): void {
        foreach (BatchReader::batches($source) as $batch) {
            $this->store->store($batch, $rejects, $counts);
            $progress($source->progress());
        }
        if (isset($counts->rejections()[RejectionReason::CutOff->value])) {
            throw SourceFailure::cutOff($source->name());
        }
    }

    /** @param Closure(): void $work */
    private static function attempt(Closure $work): SourceFailure|RejectStoreFailure|null
    {
        try {
            $work();

            return null;
        } catch (SourceFailure | RejectStoreFailure $failure) {
            return $failure;
        }
    }
}

/** The counts and the failure, if any, of one source. */
final readonly class SourceResult
{
    /**
     * @param LineCounts $counts of the lines that were committed, also when the source failed later
     * @param ?string $reportPath the file that says which lines were rejected and why; null when none was
     * @param ?WriterException $failure null when the source was read to its end
     */
    public function __construct(
        public string $source,
        public LineCounts $counts,
        public ?string $reportPath,
        public float $seconds,
        public ?WriterException $failure,
    ) {}
}

/** Which sources failed in a run, once each. They go with the run. */
final readonly class SourceFailures
{
    private const int MOST_CHARACTERS = 120;

    public function __construct(private Database $database, private Run $run) {}

    /** @param string $label kind and host of the source: no credential, no path, no query */
    public function add(string $label): void
    {
        $this->database->run('INSERT OR IGNORE INTO source_failures (run_id, source) VALUES (?, ?)', [
            $this->run->id,
            mb_substr($label, 0, self::MOST_CHARACTERS),
        ]);
    }
}

/** Collects lines before they are stored, so that no transaction is open while the writer waits for a source. */
final readonly class BatchReader
{
    /**
     * @return Generator<Batch>
     * @throws SourceFailure after the last lines that the source gave
     */
    public static function batches(Source $source): Generator
    {
        $batch = new Batch();
        try {
            foreach ($source->lines() as $number => $line) {
                $batch->add($number, $line);
                if ($batch->isFull()) {
                    yield $batch;
                    $batch = new Batch();
                }
            }
        } catch (SourceFailure $failure) {
            yield $batch;
            throw $failure;
        }
        yield $batch;
    }
}
