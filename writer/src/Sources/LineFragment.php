<?php

declare(strict_types=1);

namespace TrendVault\Writer\Sources;

use TrendVault\Writer\Observations\RejectionReason;

/** A piece of a line that is too long to hold in memory, or of one that was cut off. */
final readonly class LineFragment
{
    /** @param ?RejectionReason $end why the line is rejected, on its last piece */
    public function __construct(public string $bytes, public ?RejectionReason $end) {}
}
