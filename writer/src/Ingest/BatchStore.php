<?php

declare(strict_types=1);

namespace TrendVault\Writer\Ingest;

use TrendVault\Writer\Database\Database;
use TrendVault\Writer\Database\Removals;
use TrendVault\Writer\Database\Run;
use TrendVault\Writer\Observations\Announcement;
use TrendVault\Writer\Observations\Observation;
use TrendVault\Writer\Observations\ObservationParser;
use TrendVault\Writer\Observations\RejectedLine;
use TrendVault\Writer\Observations\RejectionReason;
use TrendVault\Writer\Observations\Removal;
use TrendVault\Writer\Sources\LineFragment;
use TrendVault\Writer\Sources\RejectStore;

/** Stores batches of lines in transactions of bounded size; each transaction also counts its lines in runs. */
final readonly class BatchStore
{
    private const string COUNT_RUN = <<<'SQL'
    UPDATE runs SET accepted = accepted + ?, unchanged = unchanged + ?, late = late + ?, conflicting = conflicting + ?, removed = removed + ?,
      announced = announced + ?, other_regions = other_regions + ?
    WHERE id = ?
    SQL;
    private const string COUNT_REJECTIONS = <<<'SQL'
    INSERT INTO rejections (run_id, reason, line_count) VALUES (?, ?, ?)
    ON CONFLICT DO UPDATE SET line_count = line_count + excluded.line_count
    SQL;

    /** Bounds what one commit adds to the WAL. */
    private const int OBSERVATIONS_PER_COMMIT = 4000;

    private ObservationStore $store;

    public function __construct(
        private Database $database,
        private Run $run,
        private ObservationParser $parser,
    ) {
        $this->store = new ObservationStore($database, $run->startedAt);
    }

    /**
     * Stores in the order of video ids, which is the order of the velocity table: each of its pages is then
     * written once for a batch, in whichever order the source has its videos.
     *
     * @param LineCounts $counts is added to after each commit, so it is right after a failure, too
     */
    public function store(Batch $batch, RejectStore $rejects, LineCounts $counts): void
    {
        [$others, $removals, $announcements] = [new LineCounts(), [], []];
        $observations = $this->parse($batch, $rejects, $others, $removals, $announcements);
        if (!$others->isEmpty()) {
            $this->database->transaction(function () use ($others, $removals): void {
                array_walk($removals, $this->remove(...));
                $this->record($others);
            });
            $counts->add($others);
        }
        foreach (array_chunk($announcements, self::OBSERVATIONS_PER_COMMIT, true) as $chunk) {
            $committed = new LineCounts();
            $this->database->transaction(function () use ($chunk, $batch, $rejects, $committed): void {
                $this->announce($chunk, $batch, $rejects, $committed);
                $this->record($committed);
            });
            $counts->add($committed);
        }
        foreach (array_chunk(self::sorted($observations), self::OBSERVATIONS_PER_COMMIT, true) as $chunk) {
            $committed = new LineCounts();
            $this->database->transaction(function () use ($chunk, $batch, $rejects, $committed): void {
                $this->storeChunk($chunk, $batch, $rejects, $committed);
                $this->record($committed);
            });
            $counts->add($committed);
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

    /**
     * @param list<Removal> $removals gets the lines that remove something
     * @param array<int, Announcement> $announcements gets the lines of a catalogue, by index in the batch
     * @return array<int, Observation> by index in the batch
     */
    private function parse(
        Batch $batch,
        RejectStore $rejects,
        LineCounts $counts,
        array &$removals,
        array &$announcements,
    ): array {
        $observations = [];
        foreach ($batch->lines() as $index => $line) {
            if ($line instanceof LineFragment) {
                self::rejectFragment($batch->numberOf($index), $line, $rejects, $counts);
                continue;
            }
            try {
                $removal = Removal::parse($line);
                if ($removal !== null) {
                    $removals[] = $removal;
                    $counts->count(Outcome::Removed);
                    continue;
                }
                $parsed = $this->parser->parseAnnouncement($line) ?? $this->parser->parse($line);
                if ($parsed === null || ($parsed instanceof Announcement && $parsed->regions === [])) {
                    $counts->count(Outcome::OtherRegion);
                    $batch->release($index);
                    continue;
                }
                if ($parsed instanceof Announcement) {
                    $announcements[$index] = $parsed;
                    continue;
                }
                $observations[$index] = $parsed;
                if ($parsed->describesVideo()) {
                    $batch->release($index); // Storing it cannot reject it any more.
                }
            } catch (RejectedLine $rejection) {
                self::reject($batch->numberOf($index), "$line\n", $rejection, $rejects, $counts);
            }
        }

        return $observations;
    }

    private function remove(Removal $removal): void
    {
        new Removals($this->database)->remove(
            $removal->kind,
            $removal->name,
            $removal->reason,
            $this->run->startedAt,
        );
    }

    /** @param array<int, Announcement> $announcements by index in the batch */
    private function announce(
        array $announcements,
        Batch $batch,
        RejectStore $rejects,
        LineCounts $counts,
    ): void {
        $videos = new VideoStore($this->database, $this->run->startedAt);
        foreach ($announcements as $index => $announcement) {
            try {
                $videos->announce($announcement);
                $counts->count(Outcome::Announced);
            } catch (RejectedLine $rejection) {
                $bytes = "{$batch->lines()[$index]}\n";
                self::reject($batch->numberOf($index), $bytes, $rejection, $rejects, $counts);
            }
        }
    }

    /** @param array<int, Observation> $observations by index in the batch */
    private function storeChunk(
        array $observations,
        Batch $batch,
        RejectStore $rejects,
        LineCounts $counts,
    ): void {
        $this->store->prepareFor($observations);
        foreach ($observations as $index => $observation) {
            try {
                $counts->count($this->store->add($observation));
            } catch (RejectedLine $rejection) {
                $bytes = "{$batch->lines()[$index]}\n";
                self::reject($batch->numberOf($index), $bytes, $rejection, $rejects, $counts);
            }
        }
    }

    /** The last fragment of a line says why the line is rejected. */
    private static function rejectFragment(
        int $number,
        LineFragment $fragment,
        RejectStore $rejects,
        LineCounts $counts,
    ): void {
        match ($fragment->end) {
            null => $rejects->keep($fragment->bytes),
            default => self::reject(
                $number,
                $fragment->bytes,
                new RejectedLine(
                    $fragment->end,
                    $fragment->end === RejectionReason::CutOff
                        ? 'expected the rest of the line'
                        : 'expected at most 1 MiB a line',
                ),
                $rejects,
                $counts,
            ),
        };
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

/** Lines that wait to be stored. A line can be released before the batch is done: lines are most of its memory. */
final class Batch
{
    private const int MAX_LINES = 16_000;
    private const int MAX_BYTES = 8 * 1024 * 1024;

    /** @var list<int> line numbers in the source */
    private array $numbers = [];
    /** @var array<int, string|LineFragment> by the index of the number */
    private array $lines = [];
    private int $bytes = 0;

    /** @param int $number of the line in the source, from 1 */
    public function add(int $number, string|LineFragment $line): void
    {
        $this->numbers[] = $number;
        $this->lines[] = $line;
        $this->bytes += strlen($line instanceof LineFragment ? $line->bytes : $line);
    }

    public function isFull(): bool
    {
        return count($this->numbers) >= self::MAX_LINES || $this->bytes >= self::MAX_BYTES;
    }

    /** The number in the source of the line at this index of the batch. */
    public function numberOf(int $index): int
    {
        return $this->numbers[$index];
    }

    /** @return array<int, string|LineFragment> by index */
    public function lines(): array
    {
        return $this->lines;
    }

    /** Frees the memory of a line; its number stays. */
    public function release(int $index): void
    {
        unset($this->lines[$index]);
    }
}

/** How many lines had which outcome, and how many were rejected for which reason. */
final class LineCounts
{
    /** @var array<string, int> by Outcome value */
    private array $outcomes = [];
    /** @var array<string, int> by RejectionReason value */
    private array $rejections = [];

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
