<?php

declare(strict_types=1);

namespace TrendVault\Writer\Database;

/** The regions of this writer, where several writers share them, and which numbers its generations have. */
final readonly class RegionShare
{
    /** More than there are regions, so that the numbers of two writers are never the same. */
    public const int NUMBER_STEP = 256;

    /**
     * @param non-empty-list<string> $codes in the order of db/regions.json
     * @param int $index of the first of them in db/regions.json, from 0
     */
    public function __construct(public array $codes, private int $index) {}

    /**
     * Which regions there are, and whether they are this writer's.
     *
     * @return array<string, bool> by code
     */
    public static function ownership(Database $database, ?self $share): array
    {
        $known = Regions::codes($database);

        return array_combine(
            $known,
            array_map(static fn(string $code): bool => $share === null || $share->has($code), $known),
        );
    }

    public function has(string $region): bool
    {
        return in_array($region, $this->codes, true);
    }

    /** The smallest number after $last that leaves the index as its remainder: another writer has another index. */
    public function numberAfter(int $last): int
    {
        $distance = ($this->index - $last) % self::NUMBER_STEP;

        return $last + ($distance > 0 ? $distance : $distance + self::NUMBER_STEP);
    }
}
