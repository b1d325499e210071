<?php

declare(strict_types=1);

namespace TrendVault\Writer\Ingest;

use TrendVault\Writer\Sources\LineFragment;

/** Lines that wait to be stored. A line can be released before the batch is done: lines are most of its memory. */
final class Batch
{
    private const int MAX_LINES = 16_000;
    private const int MAX_BYTES = 8 * 1024 * 1024;

    /** @var list<int> line numbers in the source */
    private array $numbers = [];
    /** @var array<int, string|LineFragment> by the index of the number */
    private array $lines = [];
    private int $bytes = 0;

    /** @param int $number of the line in the source, from 1 */
    public function add(int $number, string|LineFragment $line): void
    {
        $this->numbers[] = $number;
        $this->lines[] = $line;
        $this->bytes += strlen($line instanceof LineFragment ? $line->bytes : $line);
    }

    public function isFull(): bool
    {
        return count($this->numbers) >= self::MAX_LINES || $this->bytes >= self::MAX_BYTES;
    }

    /** The number in the source of the line at this index of the batch. */
    public function numberOf(int $index): int
    {
        return $this->numbers[$index];
    }

    /** @return array<int, string|LineFragment> by index */
    public function lines(): array
    {
        return $this->lines;
    }

    /** Frees the memory of a line; its number stays. */
    public function release(int $index): void
    {
        unset($this->lines[$index]);
    }
}
