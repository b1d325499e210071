<?php

declare(strict_types=1);

namespace TrendVault\Writer\Sources;

use TrendVault\Writer\Cli\Context;
use TrendVault\Writer\Cli\UsageError;
use TrendVault\Writer\Database\Database;

/** Something that gives view counts as lines of NDJSON. */
interface Source
{
    /** Short, fit for a file name. */
    public function name(): string;

    /**
     * Line numbers from 1 to lines without their end, or pieces of lines that cannot be read.
     *
     * @return iterable<int, string|LineFragment>
     * @throws SourceFailure when the source cannot be read, or not to its end; what was given until then counts
     */
    public function lines(): iterable;

    /** What share of it was read, from 0 to 1; null when that is not known. */
    public function progress(): ?float;

    /** Where this source keeps what was rejected of it; null for the folder of the run. */
    public function rejects(): ?RejectStore;

    /**
     * Is called once, after all lines that were given are committed or rejected.
     *
     * @param bool $clean whether the source was read to its end and every line stored
     * @throws SourceFailure
     */
    public function settle(bool $clean): void;
}

/**
 * What others send, at each run anew: its rejected lines may not fill the disk of the database, and to be ingested again
 * they are asked for again. Those of one run are kept, the last one that had some.
 */
interface RemoteSource extends Source
{
    /** Fit for a file name: the same in each run, and no other source's. */
    public function ownName(): string;
}

/** A source that others may replace while it is read, unless it is claimed first. */
interface ClaimableSource extends Source
{
    /**
     * Is called once, before lines(), when the lines are to be stored.
     *
     * @throws SourceFailure when it is not to be read; nothing else is called then
     */
    public function claim(): void;

    /** Is called instead of settle() when the run ends for a reason that is not the source's. */
    public function release(): void;
}

/** One kind of source, as SOURCES names it: it reads its own settings and opens what is to be read now. */
interface SourceKind
{
    /** Whether all of this kind share the time of a run: they are opened together, after the other kinds. */
    public const bool TOGETHER = false;
    /** What may be said in public of where its counts come from; null for the host that its name has. */
    public const ?string HOST = null;

    public function __construct(Context $context, Database $database);

    /**
     * @param list<string> $names of this kind: one, or all of them where they are opened together
     * @return iterable<string, Source|SourceFailure> by name; a failure where it cannot be read, nothing where it is not due
     * @throws SourceFailure|UsageError
     */
    public function open(array $names): iterable;
}
