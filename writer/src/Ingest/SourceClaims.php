<?php

declare(strict_types=1);

namespace TrendVault\Writer\Ingest;

use TrendVault\Writer\Database\Database;
use TrendVault\Writer\Database\Removals;
use TrendVault\Writer\Observations\Removal;
use TrendVault\Writer\Sources\SourceFailure;
use TrendVault\Writer\Time\SystemClock;

/**
 * What is whose: each source has its own regions of a video and its own removals, and one source describes a video
 * (docs/decisions/0023). It is about the source that is read, from begin() on.
 */
final class SourceClaims
{
    /** The name of all that is given to `ingest` and not in SOURCES. */
    public const string BY_HAND = 'by hand';
    /** Others may describe the videos of a source that gave no line for so long. */
    private const int SILENT_SECONDS = 48 * 3600;
    /** This part of a source's catalogue may leave at once. */
    private const int LEAVING_PART = 4;

    private const string SOURCES = 'SELECT id, name, heard_at FROM sources';
    private const string HEAR = <<<'SQL'
    INSERT INTO sources (name, heard_at, reading) VALUES (?, ?, 1)
    ON CONFLICT DO UPDATE SET heard_at = excluded.heard_at, reading = reading + 1 RETURNING id, reading
    SQL;
    private const string COUNT = <<<'SQL'
    SELECT count(*) AS known, total(is_named) AS named
    FROM (SELECT max(reading = ?2) AS is_named FROM catalogue WHERE source = ?1 GROUP BY video_id)
    SQL;
    private const string RELEASE = <<<'SQL'
    UPDATE videos SET described_by = NULL
    WHERE described_by = ?1 AND id IN (SELECT video_id FROM catalogue WHERE source = ?1 AND reading <> ?2)
    SQL;
    private const string LEAVE = 'DELETE FROM catalogue WHERE source = ?1 AND reading <> ?2';

    /** Its id; 0 before a line of it was heard, and where sources are not told apart. */
    private int $source = 0;
    /** The number of the file or answer that is read. */
    private int $reading = 0;
    private ?string $name = null;
    /** The number of the line that says that the catalogue is complete; null where none does. */
    private ?int $completeAt = null;
    /** @var array<int, array{id: int, name: string, heard_at: int}> by id */
    private array $others = [];
    /** @var array<int, bool> by id */
    private array $mayDescribe = [];

    /**
     * @param int $now UTC seconds
     * @param list<string> $order names of sources: of two that describe a video, the first one counts
     * @param bool $allowLeaving how much of a catalogue may leave at once: true for all
     */
    public function __construct(
        private readonly Database $database,
        private readonly int $now,
        private readonly array $order = [],
        private readonly bool $allowLeaving = false,
    ) {}

    /** From now on it is about a file or an answer of this source. */
    public function begin(string $name): void
    {
        [$this->name, $this->source, $this->reading, $this->completeAt] = [$name, 0, 0, null];
    }

    /** Is called before the first lines are stored: a source without lines is silent. */
    public function hear(): void
    {
        if ($this->name === null || $this->source !== 0) {
            return;
        }
        /** @var array{id: int, reading: int} $heard a row */
        $heard = $this->database->row(self::HEAR, [$this->name, $this->now]);
        ['id' => $this->source, 'reading' => $this->reading] = $heard;
        /** @var list<array{id: int, name: string, heard_at: int}> $rows */
        $rows = $this->database->rows(self::SOURCES);
        [$this->others, $this->mayDescribe] = [array_column($rows, null, 'id'), []];
    }

    /** The id of the source; 0 where sources are not told apart. */
    public function source(): int
    {
        return $this->source;
    }

    /** The number of the file or answer that is read. */
    public function reading(): int
    {
        return $this->reading;
    }

    /** What videos.described_by says of this source. */
    public function describer(): ?int
    {
        return $this->source === 0 ? null : $this->source;
    }

    /** @param int|string|null $describedBy the source that described the video last */
    public function mayDescribe(int|string|null $describedBy): bool
    {
        return $describedBy === null ||
            $describedBy === $this->source ||
            ($this->mayDescribe[(int) $describedBy] ??= $this->goesBefore((int) $describedBy));
    }

    public function remove(Removal $removal): void
    {
        new Removals($this->database)->remove(
            $removal->kind,
            $removal->name,
            $removal->reason,
            $this->now,
            $this->source,
        );
    }

    /** @return bool false when the source had not taken it down */
    public function takeBack(Removal $removal): bool
    {
        return new Removals($this->database)->takeBack($removal->kind, $removal->name, $this->source);
    }

    /** The file or answer said in this line that the lines before it name the whole catalogue. */
    public function complete(int $line): void
    {
        $this->completeAt = $line;
    }

    /**
     * Is called when it was read to its end: what the source named before, and not in a complete catalogue, leaves.
     *
     * @param int $rejected how many lines were rejected: what they named is not known
     * @param int $last the number of the last line
     * @return int how many videos left
     * @throws SourceFailure when the same lines would be refused again
     * @throws LeavingRefused when an operator can allow it
     */
    public function end(int $rejected, int $last): int
    {
        if ($this->completeAt === null) {
            return 0;
        }
        if ($this->completeAt !== $last) {
            throw SourceFailure::because(
                "Nothing leaves the catalogue of $this->name: line $this->completeAt says that it is complete, and lines follow. Expected {\"complete\": true} on the last line.",
            );
        }
        if ($rejected > 0) {
            throw SourceFailure::because(
                "Nothing leaves the catalogue of $this->name: $rejected lines of it were rejected.",
            );
        }
        /** @var array{known: int, named: float} $count a row */
        $count = $this->database->row(self::COUNT, [$this->source, $this->reading]);
        [$known, $named] = [$count['known'], (int) $count['named']];
        $leaving = $known - $named;
        $most = $named === 0 ? 0 : max(1, intdiv($known, self::LEAVING_PART));
        if ($leaving > $most && !$this->allowLeaving) {
            throw LeavingRefused::because(
                "Nothing leaves the catalogue of $this->name: it names $named of $known videos, and at most a quarter may leave at once. If that is right, ingest it with --allow-leaving.",
            );
        }
        if ($leaving > 0) {
            $this->database->transaction(function (): void {
                $this->database->run(self::RELEASE, [$this->source, $this->reading]);
                $this->database->run(self::LEAVE, [$this->source, $this->reading]);
            });
        }

        return $leaving;
    }

    /** Whether this source describes a video rather than another one does. */
    private function goesBefore(int $other): bool
    {
        $row = $this->others[$other] ?? null;
        $wasHeard =
            $row !== null &&
            $row['heard_at'] >= $this->now - self::SILENT_SECONDS &&
            $row['heard_at'] <= $this->now + SystemClock::TOLERANCE_SECONDS;

        return !$wasHeard || $this->place((string) $this->name) < $this->place($row['name']);
    }

    private function place(string $name): int
    {
        $place = $name === self::BY_HAND ? -1 : array_search($name, $this->order, true);

        return $place === false ? PHP_INT_MAX : $place;
    }
}

/** A complete catalogue with so few of its videos that they do not leave: its lines are stored. */
final class LeavingRefused extends SourceFailure {}
