<?php

declare(strict_types=1);

namespace TrendVault\Writer\Ingest;

use TrendVault\Writer\Observations\RejectionReason;

/** How many lines had which outcome, and how many were rejected for which reason. */
final class LineCounts
{
    /** @var array<string, int> by Outcome value */
    private array $outcomes = [];
    /** @var array<string, int> by RejectionReason value */
    private array $rejections = [];

    public function count(Outcome $outcome): void
    {
        $this->outcomes[$outcome->value] = ($this->outcomes[$outcome->value] ?? 0) + 1;
    }

    public function reject(RejectionReason $reason): void
    {
        $this->rejections[$reason->value] = ($this->rejections[$reason->value] ?? 0) + 1;
    }

    public function of(Outcome $outcome): int
    {
        return $this->outcomes[$outcome->value] ?? 0;
    }

    /** @return array<string, int> by RejectionReason value */
    public function rejections(): array
    {
        return $this->rejections;
    }

    /** How many lines were rejected, for all reasons together. */
    public function rejected(): int
    {
        return array_sum($this->rejections);
    }

    /** Whether no line was counted. */
    public function isEmpty(): bool
    {
        return $this->outcomes === [] && $this->rejections === [];
    }

    public function add(self $other): void
    {
        foreach ($other->outcomes as $name => $count) {
            $this->outcomes[$name] = ($this->outcomes[$name] ?? 0) + $count;
        }
        foreach ($other->rejections as $name => $count) {
            $this->rejections[$name] = ($this->rejections[$name] ?? 0) + $count;
        }
    }
}
