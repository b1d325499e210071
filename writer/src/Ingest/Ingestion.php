<?php

declare(strict_types=1);

namespace TrendVault\Writer\Ingest;

use Closure;
use TrendVault\Writer\Database\Database;
use TrendVault\Writer\Database\Run;
use TrendVault\Writer\Observations\Observation;
use TrendVault\Writer\Observations\ObservationParser;
use TrendVault\Writer\Observations\RejectedLine;
use TrendVault\Writer\Observations\RejectionReason;
use TrendVault\Writer\Sources\LineFragment;
use TrendVault\Writer\Sources\RejectStore;
use TrendVault\Writer\Sources\RejectStoreFailure;
use TrendVault\Writer\Sources\Source;
use TrendVault\Writer\Sources\SourceFailure;

/** Takes a source's lines into the database, in transactions of bounded size. */
final readonly class Ingestion
{
    private const string COUNT_RUN = <<<'SQL'
    UPDATE runs SET accepted = accepted + ?, unchanged = unchanged + ?, late = late + ?, conflicting = conflicting + ? WHERE id = ?
    SQL;
    private const string COUNT_REJECTIONS = <<<'SQL'
    INSERT INTO rejections (run_id, reason, line_count) VALUES (?, ?, ?)
    ON CONFLICT DO UPDATE SET line_count = line_count + excluded.line_count
    SQL;

    /** Bounds what one commit adds to the WAL. */
    private const int OBSERVATIONS_A_COMMIT = 4000;

    private ObservationStore $store;

    public function __construct(
        private Database $database,
        private Run $run,
        private ObservationParser $parser,
    ) {
        $this->store = new ObservationStore($database, $run->startedAt);
    }

    /**
     * @param LineCounts $counts counts up as batches are committed, so that it is right after a failure, too
     * @param Closure(?float): void $progress is told how far it is, from 0 to 1
     * @throws SourceFailure when the source stopped early; what it gave is stored
     * @throws RejectStoreFailure
     */
    public function ingest(Source $source, RejectStore $rejects, LineCounts $counts, Closure $progress): void
    {
        foreach (Batches::of($source) as $batch) {
            $this->storeBatch($batch, $rejects, $counts);
            $progress($source->progress());
        }
        if (isset($counts->rejections()[RejectionReason::CutOff->value])) {
            throw SourceFailure::cutOff($source->name());
        }
    }

    /**
     * Stores in the order of video ids, which is the order of the velocity table: each of its pages is then
     * written once for a batch, wherever its videos stand in the source.
     */
    private function storeBatch(Batch $batch, RejectStore $rejects, LineCounts $counts): void
    {
        $rejected = new LineCounts();
        $observations = $this->parse($batch, $rejects, $rejected);
        if ($rejected->rejected() > 0) {
            $counts->add($this->database->transaction(fn(): LineCounts => $this->record($rejected)));
        }
        foreach (array_chunk(self::sorted($observations), self::OBSERVATIONS_A_COMMIT, true) as $chunk) {
            $counts->add(
                $this->database->transaction(
                    fn(): LineCounts => $this->record($this->store($chunk, $batch, $rejects)),
                ),
            );
        }
    }

    /**
     * @param array<int, Observation> $observations
     * @return array<int, Observation> by video id; those of a video stay in their order
     */
    private static function sorted(array $observations): array
    {
        $ids = array_map(static fn(Observation $observation): string => $observation->videoId, $observations);
        asort($ids, SORT_STRING); // Three times as fast as comparing objects.

        return array_replace($ids, $observations);
    }

    /** @return array<int, Observation> by index in the batch */
    private function parse(Batch $batch, RejectStore $rejects, LineCounts $counts): array
    {
        $observations = [];
        foreach ($batch->lines() as $index => $line) {
            if ($line instanceof LineFragment) {
                $this->keepFragment($batch->numberOf($index), $line, $rejects, $counts);
                continue;
            }
            try {
                $observations[$index] = $this->parser->parse($line);
                if ($observations[$index]->describesVideo()) {
                    $batch->letGo($index); // Nothing can be said against it any more.
                }
            } catch (RejectedLine $rejected) {
                $this->setAside($batch->numberOf($index), $line, $rejected, $rejects, $counts);
            }
        }

        return $observations;
    }

    /** @param array<int, Observation> $observations by index in the batch */
    private function store(array $observations, Batch $batch, RejectStore $rejects): LineCounts
    {
        $counts = new LineCounts();
        $this->store->prepareFor($observations);
        foreach ($observations as $index => $observation) {
            try {
                $counts->count($this->store->add($observation));
            } catch (RejectedLine $rejected) {
                $this->setAside(
                    $batch->numberOf($index),
                    $batch->lines()[$index],
                    $rejected,
                    $rejects,
                    $counts,
                );
            }
        }

        return $counts;
    }

    private function setAside(
        int $number,
        string $line,
        RejectedLine $rejected,
        RejectStore $rejects,
        LineCounts $counts,
    ): void {
        $rejects->keep("$line\n");
        $this->reject($number, $rejected->reason, $rejected->getMessage(), $rejects, $counts);
    }

    private function keepFragment(
        int $number,
        LineFragment $fragment,
        RejectStore $rejects,
        LineCounts $counts,
    ): void {
        $rejects->keep($fragment->bytes);
        match ($fragment->end) {
            null => null,
            RejectionReason::CutOff => $this->reject(
                $number,
                $fragment->end,
                'expected the rest of the line',
                $rejects,
                $counts,
            ),
            default => $this->reject(
                $number,
                $fragment->end,
                'expected at most 1 MiB a line',
                $rejects,
                $counts,
            ),
        };
    }

    private function reject(
        int $number,
        RejectionReason $reason,
        string $expected,
        RejectStore $rejects,
        LineCounts $counts,
    ): void {
        $rejects->report($number, $reason, $expected);
        $counts->reject($reason);
    }

    private function record(LineCounts $counts): LineCounts
    {
        $this->database->run(self::COUNT_RUN, [
            ...array_map($counts->of(...), Outcome::cases()),
            $this->run->id,
        ]);
        foreach ($counts->rejections() as $reason => $count) {
            $this->database->run(self::COUNT_REJECTIONS, [$this->run->id, $reason, $count]);
        }

        return $counts;
    }
}
