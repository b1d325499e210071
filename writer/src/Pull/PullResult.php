<?php

declare(strict_types=1);

namespace TrendVault\Writer\Pull;

use TrendVault\Writer\Sources\Edge\EdgeFailure;

/** What a run pulled, and what it could not. */
final readonly class PullResult
{
    /**
     * @param array<string, PulledCounts> $pulled by shard, of those that answered
     * @param list<EdgeFailure> $failures
     */
    public function __construct(public array $pulled, public array $failures) {}

    public function sum(): PulledCounts
    {
        $sum = new PulledCounts();
        array_map($sum->addAll(...), $this->pulled);

        return $sum;
    }

    /** @return list<string> each sentence once */
    public function messages(): array
    {
        return array_values(
            array_unique(
                array_map(static fn(EdgeFailure $failure): string => $failure->getMessage(), $this->failures),
            ),
        );
    }
}
