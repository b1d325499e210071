<?php

declare(strict_types=1);

namespace TrendVault\Writer\Ingest;

/** What storing a valid line did. */
enum Outcome: string
{
    /** New, and the newest of its video in its region. */
    case Accepted = 'accepted';
    /** Stored before. */
    case Unchanged = 'unchanged';
    /** New, but older than the newest one: in the history, not in the forecast. */
    case Late = 'late';
    /** There is another view count of the same time, which stays: a ranking may have used it. */
    case Conflicting = 'conflicting';
    /** The line took a video or a channel down. */
    case Removed = 'removed';
    /** The line said what a video is, without views. */
    case Announced = 'announced';
    /** The line is about regions that other writers rank. */
    case OtherRegion = 'other_region';
}
