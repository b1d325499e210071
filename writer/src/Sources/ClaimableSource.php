<?php

declare(strict_types=1);

namespace TrendVault\Writer\Sources;

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
