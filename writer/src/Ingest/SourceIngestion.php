<?php

declare(strict_types=1);

namespace TrendVault\Writer\Ingest;

use Closure;
use SQLite3Exception;
use TrendVault\Writer\Database\Database;
use TrendVault\Writer\Database\DatabaseFailure;
use TrendVault\Writer\ExitCode;
use TrendVault\Writer\Observations\Announcement;
use TrendVault\Writer\Observations\Observation;
use TrendVault\Writer\Observations\ObservationParser;
use TrendVault\Writer\Observations\RejectedLine;
use TrendVault\Writer\Observations\RejectionReason;
use TrendVault\Writer\Observations\Removal;
use TrendVault\Writer\Sources\NdjsonFile;
use TrendVault\Writer\Sources\RejectStore;
use TrendVault\Writer\Sources\Source;
use TrendVault\Writer\Sources\SourceFailure;
use TrendVault\Writer\WriterException;

/**
 * Ingests a whole source, and tells it when its lines are committed. Batches of them are stored in transactions of
 * bounded size; each transaction also counts its lines in runs.
 */
final class SourceIngestion
{
    private const string COUNT_RUN = <<<'SQL'
    UPDATE runs SET accepted = accepted + ?, unchanged = unchanged + ?, late = late + ?, conflicting = conflicting + ?, removed = removed + ?, allowed = allowed + ?,
      announced = announced + ?, other_regions = other_regions + ?
    WHERE id = ?
    SQL;
    private const string COUNT_REJECTIONS = <<<'SQL'
    INSERT INTO rejections (run_id, reason, line_count) VALUES (?, ?, ?)
    ON CONFLICT DO UPDATE SET line_count = line_count + excluded.line_count
    SQL;

    /** Bounds what one commit adds to the WAL. */
    private const int OBSERVATIONS_PER_COMMIT = 4000;
    /** Bounds a batch, which is most of the memory of a run. */
    private const int MAX_LINES = 16_000;
    private const int MAX_BYTES = 8 * 1024 * 1024;

    /** @var list<int> line numbers in the source, of the batch */
    private array $numbers = [];
    /** @var array<int, string|array{string, ?RejectionReason}> by the index of the number, while storing may reject them */
    private array $lines = [];
    /** @var array<string, int> lines of the source that are committed, by Outcome value */
    private array $counts = [];
    /** @var array<string, int> its rejected lines, by RejectionReason value */
    private array $rejections = [];
    /** @var array<string, int> as $counts, of the next commit */
    private array $nextCounts = [];
    /** @var array<string, int> as $rejections, of the next commit */
    private array $nextRejections = [];
    /** @var array<string, int> its stored lines with a bad value, by field */
    private array $held = [];
    /** How many of its lines are about what was erased: they are as if they were not there. */
    private int $erased = 0;
    /** How many videos left the catalogue of the source, which was complete. */
    private int $left = 0;
    /** Where the source keeps them itself; else from its first rejected line on. */
    private ?RejectStore $rejects = null;

    /**
     * @param int $run the id of the row in runs
     * @param string $rejectedFolder where rejected lines go, unless the source itself keeps them
     */
    public function __construct(
        private readonly Database $database,
        private readonly int $run,
        private readonly ObservationParser $parser,
        private readonly ObservationStore $store,
        private readonly string $rejectedFolder,
    ) {}

    /**
     * A failure of the source is in the result, so that the caller can go on with the next source.
     *
     * @param Closure(?float): void $progress is called after each batch with the share that was read, from 0 to 1
     * @param string $name whose lines they are
     * @return array{
     *   counts: array<string, int>, rejections: array<string, int>, held: array<string, int>, left: int, erased: int, report: ?string,
     *   seconds: float, failure: ?SourceFailure,
     * } the lines that were committed, also when the source failed later, by Outcome value and RejectionReason value; those
     *   with a bad value, by field; how many videos left its catalogue; how many of its lines are about what was erased; the file that says why lines were rejected, null when none was
     * @throws WriterException when a signal stops the run
     */
    public function ingest(Source $source, Closure $progress, string $name = ObservationStore::BY_HAND): array
    {
        if (!$source->isClaimable()) {
            return $this->ingestClaimed($source, $progress, $name);
        }
        NdjsonFile::holdSignals();
        try {
            return $this->ingestClaimed($source, $progress, $name);
        } finally {
            NdjsonFile::releaseSignals();
        }
    }

    /**
     * @param Closure(?float): void $progress
     * @return array{
     *   counts: array<string, int>, rejections: array<string, int>, held: array<string, int>, left: int, erased: int, report: ?string,
     *   seconds: float, failure: ?SourceFailure,
     * }
     */
    private function ingestClaimed(Source $source, Closure $progress, string $name): array
    {
        $started = hrtime(true);
        $this->counts = $this->rejections = $this->nextCounts = $this->nextRejections = [];
        [$this->held, $this->left, $this->erased, $this->rejects] = [[], 0, 0, null];
        $report = null;
        $failure = self::attempt($source->claim(...));
        $isClaimed = $failure === null;
        if ($isClaimed) {
            [$failure, $report] = $this->storeAndSettle($source, $progress, $name);
        }

        return [
            'counts' => $this->counts,
            'rejections' => $this->rejections,
            'held' => $this->held,
            'left' => $this->left,
            'erased' => $this->erased,
            'report' => $report,
            'seconds' => $isClaimed ? (hrtime(true) - $started) / 1e9 : 0.0,
            'failure' => $failure,
        ];
    }

    /**
     * @param Closure(?float): void $progress
     * @return array{?SourceFailure, ?string} why it failed, and where the report is
     */
    private function storeAndSettle(Source $source, Closure $progress, string $name): array
    {
        try {
            $this->rejects = $source->rejects();
            $failure = self::attempt(fn() => $this->storeLines($source, $progress, $name));
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
            $this->rejects?->fail($failure->getMessage());
        }
        $unkept = self::attempt(fn() => $this->rejects?->finish());
        $report = $this->rejections === [] ? null : $this->rejects?->reportPath();
        if ($unkept !== null) {
            $source->release();

            return [$unkept, $report];
        }
        if ($failure?->mayBeAllowed && !$source->isClaimable()) {
            $source->release(); // It is asked for again, so that it can be allowed; a file of a spool is in rejected/.

            return [$failure, $report];
        }
        $clean = $failure === null && $this->rejections === [];

        return [self::attempt(static fn() => $source->settle($clean)) ?? $failure, $report];
    }

    /**
     * Collects lines before they are stored, so that no transaction is open while the writer waits for a source.
     *
     * @param Closure(?float): void $progress
     * @throws SourceFailure when the source stopped early; the lines that it gave are stored
     */
    private function storeLines(Source $source, Closure $progress, string $name): void
    {
        $this->store->begin($name);
        [$this->numbers, $this->lines, $bytes, $number, $failure] = [[], [], 0, 0, null];
        try {
            foreach ($source->lines() as $number => $line) {
                $this->numbers[] = $number;
                $this->lines[] = $line;
                $bytes += strlen(is_string($line) ? $line : $line[0]);
                if (count($this->numbers) >= self::MAX_LINES || $bytes >= self::MAX_BYTES) {
                    $this->storeBatch($source);
                    $progress($source->progress());
                    $bytes = 0;
                }
            }
        } catch (SourceFailure $failure) {
        }
        $this->storeBatch($source);
        $progress($source->progress());
        if ($failure !== null) {
            throw $failure;
        }
        $this->left = $this->store->end(array_sum($this->rejections), $number);
        if ($source->isUnchanged()) {
            $this->database->transaction($this->store->hear(...)); // The lines of before are true still.
        }
        if ($this->rejections !== [] && isset($this->rejections[RejectionReason::CutOff->value])) {
            throw SourceFailure::cutOff($source->name());
        }
    }

    /**
     * Stores in the order of video ids, which is the order of the velocity table: each of its pages is then
     * written once for a batch, in whichever order the source has its videos.
     */
    private function storeBatch(Source $source): void
    {
        if ($this->numbers !== []) {
            $this->store->hear();
        }
        $removals = $announcements = [];
        $observations = $this->parse($source, $removals, $announcements);
        if ($removals !== [] || $this->nextCounts !== [] || $this->nextRejections !== []) {
            $this->commit(function () use ($removals): void {
                foreach ($removals as $removal) {
                    $this->count($this->store->remove($removal));
                }
            });
        }
        foreach ([self::sorted($announcements), self::sorted($observations)] as $parsed) {
            foreach (array_chunk($parsed, self::OBSERVATIONS_PER_COMMIT, true) as $chunk) {
                $this->commit(fn() => $this->storeChunk($source, $chunk));
            }
        }
        [$this->numbers, $this->lines] = [[], []];
    }

    /**
     * @template T of Observation|Announcement
     * @param array<int, T> $parsed
     * @return array<int, T> by video id; those of a video stay in their order
     */
    private static function sorted(array $parsed): array
    {
        $ids = array_map(static fn(Observation|Announcement $one): string => $one->videoId, $parsed);
        asort($ids, SORT_STRING); // Three times as fast as comparing objects.

        /** @var array<int, T> $sorted each id has its line in its place */
        $sorted = array_replace($ids, $parsed);

        return $sorted;
    }

    /**
     * @param list<Removal> $removals gets the lines that remove something
     * @param array<int, Announcement> $announcements gets the lines of a catalogue, by index in the batch
     * @return array<int, Observation> by index in the batch
     */
    private function parse(Source $source, array &$removals, array &$announcements): array
    {
        $observations = [];
        foreach ($this->lines as $index => $line) {
            if (is_array($line)) {
                $this->erased += (int) $this->store->isErased($line[0]); // It is taken out of rejected/ in the end.
                $this->rejectPiece($source, $this->numbers[$index], $line);
                continue;
            }
            try {
                $parsed = $this->parser->parse($line);
                if (is_object($parsed) && $this->store->isErased($parsed)) {
                    $this->erased++;
                    unset($this->lines[$index]);
                } elseif ($parsed instanceof Observation) {
                    $observations[$index] = $parsed;
                    if ($parsed->describesVideo()) {
                        unset($this->lines[$index]); // Storing it cannot reject it any more.
                    }
                } elseif ($parsed instanceof Removal) {
                    $removals[] = $parsed;
                } elseif ($parsed === null) {
                    $this->count(Outcome::OtherRegion);
                    unset($this->lines[$index]);
                } elseif ($parsed === true) {
                    $this->store->complete($this->numbers[$index]);
                    $this->count(Outcome::Announced);
                } else {
                    $announcements[$index] = $parsed;
                }
            } catch (RejectedLine $rejection) {
                if ($this->store->isErased($line)) {
                    $this->erased++;
                    unset($this->lines[$index]);
                    continue;
                }
                $this->reject($source, $this->numbers[$index], "$line\n", $rejection);
            }
        }

        return $observations;
    }

    /** @param array<int, Observation>|array<int, Announcement> $parsed by index in the batch */
    private function storeChunk(Source $source, array $parsed): void
    {
        if (reset($parsed) instanceof Observation) {
            /** @var array<int, Observation> $parsed one chunk has one kind */
            $this->store->prepareFor($parsed);
        } else {
            /** @var array<int, Announcement> $parsed */
            $this->store->prepareToAnnounce($parsed);
        }
        foreach ($parsed as $index => $one) {
            try {
                $outcome =
                    $one instanceof Observation ? $this->store->add($one) : $this->store->announce($one);
                $this->count($outcome);
                $said = $outcome === Outcome::OtherRegion ? [] : [...$one->restrictions, ...$one->details];
                $bad = array_keys($said, null, true);
                foreach ($bad as $field) {
                    $this->held[$field] = ($this->held[$field] ?? 0) + 1;
                }
            } catch (RejectedLine $rejection) {
                $line = $this->lines[$index];
                $bytes = is_string($line) ? "$line\n" : $line[0];
                $this->reject($source, $this->numbers[$index], $bytes, $rejection);
            }
        }
    }

    /** @param array{string, ?RejectionReason} $piece of a line; the last one says why the line is rejected */
    private function rejectPiece(Source $source, int $number, array $piece): void
    {
        [$bytes, $end] = $piece;
        if ($end === null) {
            $this->rejectsOf($source)->keep($bytes);

            return;
        }
        $expected =
            $end === RejectionReason::CutOff
                ? 'expected the rest of the line'
                : 'expected at most 1 MiB a line';
        $this->reject($source, $number, $bytes, new RejectedLine($end, $expected));
    }

    private function reject(Source $source, int $number, string $bytes, RejectedLine $rejection): void
    {
        $rejects = $this->rejectsOf($source);
        $rejects->keep($bytes);
        $rejects->report($number, $rejection->reason, $rejection->getMessage());
        $reason = $rejection->reason->value;
        $this->nextRejections[$reason] = ($this->nextRejections[$reason] ?? 0) + 1;
    }

    private function rejectsOf(Source $source): RejectStore
    {
        $ownName = $source->ownName();

        return $this->rejects ??=
            $ownName !== null
                ? RejectStore::latest($this->rejectedFolder, $ownName)
                : RejectStore::lines($this->rejectedFolder, "{$source->name()}-$this->run");
    }

    private function count(Outcome $outcome): void
    {
        $this->nextCounts[$outcome->value] = ($this->nextCounts[$outcome->value] ?? 0) + 1;
    }

    /**
     * Runs the work in a transaction with the counts of its lines, which count for the source once it is committed.
     *
     * @param Closure(): void $work
     */
    private function commit(Closure $work): void
    {
        $this->database->transaction(function () use ($work): void {
            $work();
            $this->database->run(self::COUNT_RUN, [
                ...array_map(
                    fn(Outcome $outcome): int => $this->nextCounts[$outcome->value] ?? 0,
                    Outcome::cases(),
                ),
                $this->run,
            ]);
            foreach ($this->nextRejections as $reason => $count) {
                $this->database->run(self::COUNT_REJECTIONS, [$this->run, $reason, $count]);
            }
        });
        foreach ($this->nextCounts as $outcome => $count) {
            $this->counts[$outcome] = ($this->counts[$outcome] ?? 0) + $count;
        }
        foreach ($this->nextRejections as $reason => $count) {
            $this->rejections[$reason] = ($this->rejections[$reason] ?? 0) + $count;
        }
        [$this->nextCounts, $this->nextRejections] = [[], []];
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
