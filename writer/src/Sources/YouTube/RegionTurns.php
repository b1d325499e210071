<?php

declare(strict_types=1);

namespace TrendVault\Writer\Sources\YouTube;

use TrendVault\Writer\Database\Database;

/** When the chart of each region was asked for. */
final readonly class RegionTurns
{
    private const string ASK = <<<'SQL'
    INSERT INTO youtube_regions (region, asked_at) VALUES (?, ?)
    ON CONFLICT DO UPDATE SET asked_at = excluded.asked_at
    SQL;

    public function __construct(private Database $database) {}

    /** @param int $now UTC seconds */
    public function ask(string $region, int $now): void
    {
        $this->database->run(self::ASK, [$region, $now]);
    }

    /**
     * @param list<string> $regions
     * @return list<string> the one that waited longest first
     */
    public function sorted(array $regions): array
    {
        $askedAt = array_column(
            $this->database->rows('SELECT region, asked_at FROM youtube_regions'),
            'asked_at',
            'region',
        );
        usort($regions, static fn(string $a, string $b): int => ($askedAt[$a] ?? 0) <=> ($askedAt[$b] ?? 0));

        return $regions;
    }
}
