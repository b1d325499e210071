<?php

declare(strict_types=1);

namespace TrendVault\Writer\Database;

/** The regions of a deployment, those of this writer, and which numbers its generations have. */
final readonly class RegionShare
{
    /** More than there are regions, so that the numbers of two writers are never the same. */
    public const int NUMBER_STEP = 256;

    /**
     * @param non-empty-list<string> $all in the order of the file
     * @param non-empty-list<string> $codes of this writer, in the order of the file
     * @param ?int $index of the first of them in the file, from 0; null for the only writer
     */
    public function __construct(private array $all, public array $codes, private ?int $index) {}

    /** Of the only writer. */
    public static function whole(RegionTable $table): self
    {
        return new self($table->codes(), $table->codes(), null);
    }

    /**
     * Of one of several writers.
     *
     * @param non-empty-list<string> $codes each of the table
     */
    public static function part(RegionTable $table, array $codes): self
    {
        $own = array_intersect($table->codes(), $codes);

        return new self($table->codes(), array_values($own), array_key_first($own));
    }

    public function isWhole(): bool
    {
        return $this->index === null;
    }

    /**
     * Which regions there are, and whether they are this writer's.
     *
     * @return array<string, bool> by code
     */
    public function ownership(): array
    {
        $all = $this->all;
        sort($all);

        return array_combine($all, array_map($this->has(...), $all));
    }

    public function has(string $region): bool
    {
        return in_array($region, $this->codes, true);
    }

    /** The smallest number after $last that leaves the index as its remainder: another writer has another index. Null for the next one. */
    public function numberAfter(int $last): ?int
    {
        if ($this->index === null) {
            return null;
        }
        $distance = ($this->index - $last) % self::NUMBER_STEP;

        return $last + ($distance > 0 ? $distance : $distance + self::NUMBER_STEP);
    }
}
