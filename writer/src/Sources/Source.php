<?php

declare(strict_types=1);

namespace TrendVault\Writer\Sources;

/** Something that gives view counts as lines of NDJSON; all of them go the same way from there. */
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

    /** What share of it was read, from 0 to 1; null when nobody knows. */
    public function progress(): ?float;
}
