<?php

declare(strict_types=1);

namespace TrendVault\Writer\Tests\Ingest;

use Override;
use TrendVault\Writer\Sources\Source;

/** A source with these lines. */
final class DrawnSource extends Source
{
    /** @param list<array<string, mixed>> $lines */
    public function __construct(private readonly array $lines) {}

    #[Override]
    public function name(): string
    {
        return 'drawn';
    }

    #[Override]
    public function lines(): iterable
    {
        foreach ($this->lines as $index => $line) {
            yield $index + 1 => json_encode($line, JSON_THROW_ON_ERROR);
        }
    }
}
