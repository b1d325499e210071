<?php

declare(strict_types=1);

namespace TrendVault\Writer\Status;

use TrendVault\Writer\Database\Database;
use TrendVault\Writer\Database\RegionShare;

/** How many videos each region has, how fresh it is, and which regions are ranked. */
final readonly class RegionReport
{
    private const string REGIONS = <<<'SQL'
    WITH known (region, at) AS (
      SELECT region, last_observed_at FROM velocity UNION ALL SELECT region, NULL FROM catalogue AS c
      WHERE NOT EXISTS (SELECT 1 FROM velocity WHERE video_id = c.video_id AND region = c.region)
    ), counted AS (SELECT region, count(*) AS videos, max(at) AS newest FROM known GROUP BY region)
    SELECT r.code AS region, ifnull(c.videos, 0) AS videos, c.newest AS newest_observed_at
    FROM regions AS r LEFT JOIN counted AS c ON c.region = r.code ORDER BY r.code
    SQL;

    /**
     * @param list<array{region: string, videos: int, newest_observed_at: ?int}> $rows
     * @param ?RegionShare $share null when all regions are ranked
     */
    private function __construct(private array $rows, private int $now, private ?RegionShare $share) {}

    /** @param int $now UTC seconds */
    public static function of(Database $database, int $now, ?RegionShare $share): self
    {
        $known = $share?->ownership();
        $isListed = static fn(array $row): bool => $known === null || isset($known[$row['region']]);

        return new self(array_values(array_filter($database->rows(self::REGIONS), $isListed)), $now, $share);
    }

    /** @return array<string, mixed> members of the status */
    public function facts(): array
    {
        return [
            'ranked_regions' => $this->isWhole() ? null : $this->share?->codes, // null: all
            'regions' => array_map(
                fn(array $row): array => [
                    ...ReadableTime::inRow($row),
                    'age_seconds' => $this->age($row['newest_observed_at']),
                ],
                $this->rows,
            ),
        ];
    }

    /** @return list<string> a line, or none when all regions are ranked */
    public function ranked(): array
    {
        return $this->isWhole() ? [] : ['Ranks       ' . implode(', ', $this->share->codes) . ' only'];
    }

    /** @return list<string> a table */
    public function lines(): array
    {
        $lines = ['Region   Videos  Newest observation'];
        foreach ($this->rows as ['region' => $region, 'videos' => $videos, 'newest_observed_at' => $newest]) {
            $age = $this->age($newest);
            $lines[] = sprintf(
                '%-6s %8d  %s',
                $region,
                $videos,
                $age === null ? 'never' : ReadableTime::age($age) . ' ago',
            );
        }

        return $lines;
    }

    private function isWhole(): bool
    {
        return $this->share?->isWhole() ?? true;
    }

    private function age(?int $observedAt): ?int
    {
        return $observedAt === null ? null : $this->now - $observedAt;
    }
}
