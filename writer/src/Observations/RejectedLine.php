<?php

declare(strict_types=1);

namespace TrendVault\Writer\Observations;

use Exception;

/** A line that cannot be stored; the message says what was expected. */
final class RejectedLine extends Exception
{
    public function __construct(public readonly RejectionReason $reason, string $expected)
    {
        parent::__construct($expected);
    }
}
