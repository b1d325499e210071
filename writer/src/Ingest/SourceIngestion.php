<?php

declare(strict_types=1);

namespace TrendVault\Writer\Ingest;

use Closure;
use SQLite3Exception;
use TrendVault\Writer\Database\DatabaseFailure;
use TrendVault\Writer\ExitCode;
use TrendVault\Writer\Observations\RejectionReason;
use TrendVault\Writer\Sources\LineReader;
use TrendVault\Writer\Sources\RejectStore;
use TrendVault\Writer\Sources\Source;
use TrendVault\Writer\Sources\SourceFailure;
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
     * @throws WriterException when a signal stops the run
     * @param Closure(?float): void $progress is called after each batch with the share that was read, from 0 to 1
     * @param string $name whose lines they are
     */
    public function ingest(
        Source $source,
        Closure $progress,
        string $name = SourceClaims::BY_HAND,
    ): SourceResult {
        if (!$source->isClaimable()) {
            return $this->ingestClaimed($source, $progress, $name);
        }
        LineReader::holdSignals();
        try {
            return $this->ingestClaimed($source, $progress, $name);
        } finally {
            LineReader::releaseSignals();
        }
    }

    /** @param Closure(?float): void $progress */
    private function ingestClaimed(Source $source, Closure $progress, string $name): SourceResult
    {
        [$counts, $started] = [new LineCounts(), hrtime(true)];
        $failure = self::attempt($source->claim(...));
        if ($failure !== null) {
            return new SourceResult($source->name(), $counts, null, 0.0, $failure);
        }
        [$failure, $report] = $this->storeAndSettle($source, $counts, $progress, $name);

        return new SourceResult($source->name(), $counts, $report, (hrtime(true) - $started) / 1e9, $failure);
    }

    private function rejectsOf(Source $source): RejectStore
    {
        $ownName = $source->ownName();

        return $ownName !== null
            ? RejectStore::latest($this->rejectedFolder, $ownName)
            : RejectStore::lines($this->rejectedFolder, "{$source->name()}-$this->runId");
    }

    /**
     * @param Closure(?float): void $progress
     * @return array{?SourceFailure, ?string} why it failed, and where the report is
     */
    private function storeAndSettle(
        Source $source,
        LineCounts $counts,
        Closure $progress,
        string $name,
    ): array {
        try {
            $rejects = $source->rejects() ?? $this->rejectsOf($source);
            $failure = self::attempt(fn() => $this->storeLines($source, $rejects, $counts, $progress, $name));
        } catch (WriterException $end) {
            $source->release();
            throw $end;
        } catch (SQLite3Exception $failure) {
            // A line that the database does not take would be there in the next run, too.
            if (DatabaseFailure::from($failure, '')->exitCode !== ExitCode::Internal) {
                $source->release();
            }
            throw $failure;
        }
        if ($failure !== null) {
            $rejects->fail($failure->getMessage());
        }
        $unkept = self::attempt($rejects->finish(...));
        $report = $counts->rejected() > 0 ? $rejects->reportPath() : null;
        if ($unkept !== null) {
            $source->release();

            return [$unkept, $report];
        }
        if ($failure instanceof LeavingRefused && !$source->isClaimable()) {
            $source->release(); // It is asked for again, so that it can be allowed; a file of a spool is in rejected/.

            return [$failure, $report];
        }
        $clean = $failure === null && $counts->rejected() === 0;

        return [self::attempt(static fn() => $source->settle($clean)) ?? $failure, $report];
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
        string $name,
    ): void {
        $this->store->store(
            $source->lines(),
            $rejects,
            $counts,
            static fn() => $progress($source->progress()),
            $name,
        );
        if ($source->isUnchanged()) {
            $this->store->confirm();
        }
        if ($counts->rejected() > 0 && isset($counts->rejections()[RejectionReason::CutOff->value])) {
            throw SourceFailure::cutOff($source->name());
        }
    }

    /** @param Closure(): void $work */
    private static function attempt(Closure $work): ?SourceFailure
    {
        try {
            $work();

            return null;
        } catch (SourceFailure $failure) {
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
