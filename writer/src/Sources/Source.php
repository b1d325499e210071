<?php

declare(strict_types=1);

namespace TrendVault\Writer\Sources;

use TrendVault\Writer\Observations\RejectionReason;

/** Something that gives view counts as lines of NDJSON. */
abstract class Source
{
    /** Short, fit for a file name. */
    abstract public function name(): string;

    /**
     * Line numbers from 1 to lines without their end, or pieces of lines that cannot be read.
     *
     * @return iterable<int, string|array{string, ?RejectionReason}>
     * @throws SourceFailure when the source cannot be read, or not to its end; what was given until then counts
     */
    abstract public function lines(): iterable;

    /** Whether it says that all it gave when it was last read is so still. */
    public function isUnchanged(): bool
    {
        return false;
    }

    /** What share of it was read, from 0 to 1; null when that is not known. */
    public function progress(): ?float
    {
        return null;
    }

    /**
     * For what others send, at each run anew: its rejected lines may not fill the disk of the database, and to be
     * ingested again they are asked for again. Those of one run are kept, the last one that had some.
     *
     * @return ?string fit for a file name: the same in each run, and no other source's; null for a source of this machine
     */
    public function ownName(): ?string
    {
        return null;
    }

    /** Where this source keeps what was rejected of it; null for the folder of the run. */
    public function rejects(): ?RejectStore
    {
        return null;
    }

    /** Whether others may replace it while it is read, unless claim() is called first. */
    public function isClaimable(): bool
    {
        return false;
    }

    /**
     * Is called once, before lines(), when the lines are to be stored.
     *
     * @throws SourceFailure when it is not to be read; nothing else is called then
     */
    public function claim(): void {}

    /** Is called instead of settle() when the run ends for a reason that is not the source's. */
    public function release(): void {}

    /**
     * Is called once, after all lines that were given are committed or rejected.
     *
     * @param bool $clean whether the source was read to its end and every line stored
     * @throws SourceFailure
     */
    public function settle(bool $clean): void {}
}
