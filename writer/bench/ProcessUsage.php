<?php

declare(strict_types=1);

namespace TrendVault\Writer\Bench;

/** The time and memory that one process used. */
final readonly class ProcessUsage
{
    /** @param array<string, float> $steps seconds by event, as the process itself logged them */
    public function __construct(
        public float $wallSeconds,
        public float $cpuSeconds,
        public float $peakMegabytes,
        public array $steps,
    ) {}
}
