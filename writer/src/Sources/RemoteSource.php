<?php

declare(strict_types=1);

namespace TrendVault\Writer\Sources;

/**
 * What others send, at each run anew: its rejected lines may not fill the disk of the database, and to be ingested again
 * they are asked for again. Those of one run are kept, the last one that had some.
 */
interface RemoteSource extends Source
{
    /** Fit for a file name: the same in each run, and no other source's. */
    public function ownName(): string;
}
