<?php

declare(strict_types=1);

namespace TrendVault\Writer\Ingest;

use Closure;
use TrendVault\Writer\Database\Database;
use TrendVault\Writer\Database\Run;
use TrendVault\Writer\Observations\Announcement;
use TrendVault\Writer\Observations\CatalogueEnd;
use TrendVault\Writer\Observations\Observation;
use TrendVault\Writer\Observations\ObservationParser;
use TrendVault\Writer\Observations\RejectedLine;
use TrendVault\Writer\Observations\RejectionReason;
use TrendVault\Writer\Observations\Removal;
use TrendVault\Writer\Sources\RejectStore;
use TrendVault\Writer\Sources\SourceFailure;

/** Stores batches of lines in transactions of bounded size; each transaction also counts its lines in runs. */
final class BatchStore
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

    private readonly ObservationStore $store;
    private readonly SourceClaims $claims;
    /** @var list<int> line numbers in the source, of the batch */
    private array $numbers = [];
    /** @var array<int, string|array{string, ?RejectionReason}> by the index of the number, while storing may reject them */
    private array $lines = [];

    public function __construct(
        private readonly Database $database,
        private readonly Run $run,
        private readonly ObservationParser $parser,
        ?SourceClaims $claims = null,
    ) {
        $this->claims = $claims ?? new SourceClaims($database, $run->startedAt);
        $this->store = new ObservationStore($database, $run->startedAt, $this->claims);
    }

    /**
     * Collects lines before they are stored, so that no transaction is open while the writer waits for a source.
     *
     * @param iterable<int, string|array{string, ?RejectionReason}> $lines by their number in the source, from 1
     * @param LineCounts $counts is added to after each commit, so it is right after a failure, too
     * @param Closure(): void $stored is called after each batch
     * @param string $source whose lines they are
     * @throws SourceFailure as the lines do, after those before it are stored; as SourceClaims::end() does
     */
    public function store(
        iterable $lines,
        RejectStore $rejects,
        LineCounts $counts,
        Closure $stored,
        string $source = SourceClaims::BY_HAND,
    ): void {
        $this->claims->begin($source);
        [$this->numbers, $this->lines, $bytes, $number, $failure] = [[], [], 0, 0, null];
        try {
            foreach ($lines as $number => $line) {
                $this->numbers[] = $number;
                $this->lines[] = $line;
                $bytes += strlen(is_string($line) ? $line : $line[0]);
                if (count($this->numbers) >= self::MAX_LINES || $bytes >= self::MAX_BYTES) {
                    $this->storeBatch($rejects, $counts);
                    $stored();
                    $bytes = 0;
                }
            }
        } catch (SourceFailure $failure) {
        }
        $this->storeBatch($rejects, $counts);
        $stored();
        if ($failure !== null) {
            throw $failure;
        }
        $counts->left = $this->claims->end($counts->rejected(), $number);
    }

    /** Is called after store() without lines, when the source says that its lines of before are true still. */
    public function confirm(): void
    {
        $this->database->transaction($this->claims->hear(...));
    }

    /**
     * Stores in the order of video ids, which is the order of the velocity table: each of its pages is then
     * written once for a batch, in whichever order the source has its videos.
     */
    private function storeBatch(RejectStore $rejects, LineCounts $counts): void
    {
        if ($this->numbers !== []) {
            $this->claims->hear();
        }
        [$others, $removals, $announcements] = [new LineCounts(), [], []];
        $observations = $this->parse($rejects, $others, $removals, $announcements);
        if (!$others->isEmpty() || $removals !== []) {
            $this->database->transaction(function () use ($others, $removals): void {
                foreach ($removals as $removal) {
                    $others->count($this->remove($removal));
                }
                $this->record($others);
            });
            $counts->add($others);
        }
        foreach ([self::sorted($announcements), self::sorted($observations)] as $parsed) {
            foreach (array_chunk($parsed, self::OBSERVATIONS_PER_COMMIT, true) as $chunk) {
                $committed = new LineCounts();
                $this->database->transaction(function () use ($chunk, $rejects, $committed): void {
                    $this->storeChunk($chunk, $rejects, $committed);
                    $this->record($committed);
                });
                $counts->add($committed);
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
    private function parse(
        RejectStore $rejects,
        LineCounts $counts,
        array &$removals,
        array &$announcements,
    ): array {
        $observations = [];
        foreach ($this->lines as $index => $line) {
            if (is_array($line)) {
                self::rejectPiece($this->numbers[$index], $line, $rejects, $counts);
                continue;
            }
            try {
                $parsed = $this->parser->parse($line);
                if ($parsed instanceof Observation) {
                    $observations[$index] = $parsed;
                    if ($parsed->describesVideo()) {
                        unset($this->lines[$index]); // Storing it cannot reject it any more.
                    }
                } elseif ($parsed instanceof Removal) {
                    $removals[] = $parsed;
                } elseif ($parsed === null) {
                    $counts->count(Outcome::OtherRegion);
                    unset($this->lines[$index]);
                } elseif ($parsed instanceof CatalogueEnd) {
                    $this->claims->complete($this->numbers[$index]);
                    $counts->count(Outcome::Announced);
                } else {
                    $announcements[$index] = $parsed;
                }
            } catch (RejectedLine $rejection) {
                self::reject($this->numbers[$index], "$line\n", $rejection, $rejects, $counts);
            }
        }

        return $observations;
    }

    private function remove(Removal $removal): Outcome
    {
        if ($removal->isTakenBack) {
            return $this->claims->takeBack($removal) ? Outcome::Allowed : Outcome::Unchanged;
        }
        $this->claims->remove($removal);

        return Outcome::Removed;
    }

    /** @param array<int, Observation>|array<int, Announcement> $parsed by index in the batch */
    private function storeChunk(array $parsed, RejectStore $rejects, LineCounts $counts): void
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
                $counts->count(
                    $one instanceof Observation ? $this->store->add($one) : $this->store->announce($one),
                );
            } catch (RejectedLine $rejection) {
                $line = $this->lines[$index];
                $bytes = is_string($line) ? "$line\n" : $line[0];
                self::reject($this->numbers[$index], $bytes, $rejection, $rejects, $counts);
            }
        }
    }

    /** @param array{string, ?RejectionReason} $piece of a line; the last one says why the line is rejected */
    private static function rejectPiece(
        int $number,
        array $piece,
        RejectStore $rejects,
        LineCounts $counts,
    ): void {
        [$bytes, $end] = $piece;
        if ($end === null) {
            $rejects->keep($bytes);

            return;
        }
        $expected =
            $end === RejectionReason::CutOff
                ? 'expected the rest of the line'
                : 'expected at most 1 MiB a line';
        self::reject($number, $bytes, new RejectedLine($end, $expected), $rejects, $counts);
    }

    private static function reject(
        int $number,
        string $bytes,
        RejectedLine $rejection,
        RejectStore $rejects,
        LineCounts $counts,
    ): void {
        $rejects->keep($bytes);
        $rejects->report($number, $rejection->reason, $rejection->getMessage());
        $counts->reject($rejection->reason);
    }

    private function record(LineCounts $counts): void
    {
        $this->database->run(self::COUNT_RUN, [
            ...array_map($counts->of(...), Outcome::cases()),
            $this->run->id,
        ]);
        foreach ($counts->rejections() as $reason => $count) {
            $this->database->run(self::COUNT_REJECTIONS, [$this->run->id, $reason, $count]);
        }
    }
}

/** How many lines had which outcome, and how many were rejected for which reason. */
final class LineCounts
{
    /** @var array<string, int> by Outcome value */
    private array $outcomes = [];
    /** @var array<string, int> by RejectionReason value */
    private array $rejections = [];
    /** How many videos left a catalogue, which was complete. */
    public int $left = 0;

    public function count(Outcome $outcome): void
    {
        $this->outcomes[$outcome->value] = ($this->outcomes[$outcome->value] ?? 0) + 1;
    }

    public function reject(RejectionReason $reason): void
    {
        $this->rejections[$reason->value] = ($this->rejections[$reason->value] ?? 0) + 1;
    }

    public function of(Outcome $outcome): int
    {
        return $this->outcomes[$outcome->value] ?? 0;
    }

    /** @return array<string, int> by RejectionReason value */
    public function rejections(): array
    {
        return $this->rejections;
    }

    /** How many lines were rejected, for all reasons together. */
    public function rejected(): int
    {
        return array_sum($this->rejections);
    }

    /** Whether no line was counted. */
    public function isEmpty(): bool
    {
        return $this->outcomes === [] && $this->rejections === [];
    }

    public function add(self $other): void
    {
        foreach ($other->outcomes as $name => $count) {
            $this->outcomes[$name] = ($this->outcomes[$name] ?? 0) + $count;
        }
        foreach ($other->rejections as $name => $count) {
            $this->rejections[$name] = ($this->rejections[$name] ?? 0) + $count;
        }
    }
}
