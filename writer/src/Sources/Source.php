<?php

declare(strict_types=1);

namespace TrendVault\Writer\Sources;

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
