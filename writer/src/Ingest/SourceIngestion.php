<?php

declare(strict_types=1);

namespace TrendVault\Writer\Ingest;

use Closure;
use TrendVault\Writer\Observations\RejectionReason;
use TrendVault\Writer\Sources\RejectStore;
use TrendVault\Writer\Sources\RejectStoreFailure;
use TrendVault\Writer\Sources\Source;
use TrendVault\Writer\Sources\SourceFailure;

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
     * @param Closure(?float): void $progress is called after each batch with the share that was read, from 0 to 1
     */
    public function ingest(Source $source, Closure $progress): SourceResult
    {
        $rejects =
            $source->rejects() ?? RejectStore::lines($this->rejectedFolder, "{$source->name()}-$this->runId");
        [$counts, $started] = [new LineCounts(), hrtime(true)];
        $failure = self::attempt(fn() => $this->storeLines($source, $rejects, $counts, $progress));
        $seconds = (hrtime(true) - $started) / 1e9;
        if (!($failure instanceof RejectStoreFailure)) {
            $clean = $failure === null && $counts->rejected() === 0;
            $failure = self::attempt(static fn() => $source->settle($clean)) ?? $failure;
        }

        return new SourceResult($source->name(), $counts, $rejects->reportPath(), $seconds, $failure);
    }

    /**
     * @param Closure(?float): void $progress
     * @throws SourceFailure when the source stopped early; the lines that it gave are stored
     * @throws RejectStoreFailure
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
