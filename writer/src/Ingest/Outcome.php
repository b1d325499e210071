<?php

declare(strict_types=1);

namespace TrendVault\Writer\Ingest;

/** What became of an observation that was well formed. */
enum Outcome: string
{
    /** New, and the newest of its video in its market. */
    case Accepted = 'accepted';
    /** Stored before. */
    case Unchanged = 'unchanged';
    /** New, but older than what is known: in the history, not in the forecast. */
    case Late = 'late';
    /** Its time is taken by another view count, which stays: a ranking may have used it. */
    case Conflicting = 'conflicting';
}
