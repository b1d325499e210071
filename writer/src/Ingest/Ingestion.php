<?php

declare(strict_types=1);

namespace TrendVault\Writer\Ingest;

use TrendVault\Writer\Database\Database;
use TrendVault\Writer\Database\Run;
use TrendVault\Writer\Observations\Observation;
use TrendVault\Writer\Observations\ObservationParser;
use TrendVault\Writer\Observations\RejectedLine;
use TrendVault\Writer\Observations\RejectionReason;
use TrendVault\Writer\Sources\LineFragment;
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

    private ObservationStore $store;

    public function __construct(private Database $database, private Run $run, private ObservationParser $parser)
    {
        $this->store = new ObservationStore($database, $run->startedAt);
    }

    /**
     * @param Tally $tally counts up as batches are committed, so that it is right after a failure, too
     * @throws SourceFailure when the source stopped early; what it gave is stored
     * @throws SetAsideFailure
     */
    public function ingest(Source $source, SetAside $aside, Tally $tally): void
    {
        foreach (Batches::of($source) as $batch) {
            $tally->add($this->database->transaction(fn (): Tally => $this->storeBatch($batch, $aside)));
        }
        if (isset($tally->rejections[RejectionReason::CutOff->value])) {
            throw SourceFailure::cutOff($source->name());
        }
    }

    /** @param list<array{int, string|LineFragment}> $batch */
    private function storeBatch(array $batch, SetAside $aside): Tally
    {
        $tally = new Tally();
        $observations = $this->parse($batch, $aside, $tally);
        $this->store->prepareFor($observations);
        foreach ($observations as $index => $observation) {
            [$number, $line] = $batch[$index];
            try {
                $tally->count($this->store->add($observation));
            } catch (RejectedLine $rejected) {
                $this->setAside($number, $line, $rejected, $aside, $tally);
            }
        }
        $this->record($tally);

        return $tally;
    }

    /**
     * @param list<array{int, string|LineFragment}> $batch
     * @return array<int, Observation> by index in the batch
     */
    private function parse(array $batch, SetAside $aside, Tally $tally): array
    {
        $observations = [];
        foreach ($batch as $index => [$number, $line]) {
            if ($line instanceof LineFragment) {
                $this->keepFragment($number, $line, $aside, $tally);
                continue;
            }
            try {
                $observations[$index] = $this->parser->parse($line);
            } catch (RejectedLine $rejected) {
                $this->setAside($number, $line, $rejected, $aside, $tally);
            }
        }

        return $observations;
    }

    private function setAside(int $number, string $line, RejectedLine $rejected, SetAside $aside, Tally $tally): void
    {
        $aside->keep("$line\n");
        $this->reject($number, $rejected->reason, $rejected->getMessage(), $aside, $tally);
    }

    private function keepFragment(int $number, LineFragment $fragment, SetAside $aside, Tally $tally): void
    {
        $aside->keep($fragment->bytes);
        match ($fragment->end) {
            null => null,
            RejectionReason::CutOff => $this->reject($number, $fragment->end, 'expected the rest of the line', $aside, $tally),
            default => $this->reject($number, $fragment->end, 'expected at most 1 MiB a line', $aside, $tally),
        };
    }

    private function reject(int $number, RejectionReason $reason, string $expected, SetAside $aside, Tally $tally): void
    {
        $aside->report($number, $reason, $expected);
        $tally->reject($reason);
    }

    private function record(Tally $tally): void
    {
        $counts = array_map($tally->of(...), Outcome::cases());
        $this->database->run(self::COUNT_RUN, [...$counts, $this->run->id]);
        foreach ($tally->rejections as $reason => $count) {
            $this->database->run(self::COUNT_REJECTIONS, [$this->run->id, $reason, $count]);
        }
    }
}
