<?php

declare(strict_types=1);

namespace TrendVault\Writer\Sources;

use TrendVault\Writer\Observations\RejectionReason;

/** A piece of a line that is not worth holding in memory, or that stopped midway. */
final readonly class LineFragment
{
    /** @param ?RejectionReason $end what is wrong with the line, on its last piece */
    public function __construct(public string $bytes, public ?RejectionReason $end) {}
}
