<?php

declare(strict_types=1);

namespace TrendVault\Writer\Ingest;

use TrendVault\Writer\WriterException;

/** The counts and the failure, if any, of one source. */
final readonly class SourceResult
{
    /**
     * @param LineCounts $counts of the lines that were committed, also when the source failed later
     * @param ?string $reportPath the file that says which lines were rejected and why; null when none was
     * @param ?WriterException $failure null when the source was read to its end
     */
    public function __construct(
        public string $source,
        public LineCounts $counts,
        public ?string $reportPath,
        public float $seconds,
        public ?WriterException $failure,
    ) {}
}
