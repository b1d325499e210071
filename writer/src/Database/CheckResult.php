<?php

declare(strict_types=1);

namespace TrendVault\Writer\Database;

/** What a check of the file found: a row of the table checks. */
final readonly class CheckResult
{
    /** @param string $result whole, damaged or unfinished */
    public function __construct(public string $result, public ?string $detail) {}
}
