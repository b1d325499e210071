<?php

declare(strict_types=1);

namespace TrendVault\Writer\Status;

use TrendVault\Writer\Database\Database;
use TrendVault\Writer\Time\Rfc3339;

/** What was ever pulled from the edge, what of it counts, and what waits or is lost. */
final readonly class PullReport
{
    private const string SUMS = <<<'SQL'
    SELECT sum(lists) AS lists, sum(looks) AS looks, sum(views) AS views, sum(late_looks) AS late_looks,
      sum(late_views) AS late_views, sum(settled_looks) + sum(settled_views) AS settled,
      sum(counted_looks) AS counted_looks, sum(counted_views) AS counted_views
    FROM pull_regions
    SQL;

    /**
     * @param array<string, int|float> $sums
     * @param ?int $oldestUnsettled minute
     */
    private function __construct(
        private array $sums,
        private ?int $oldestUnsettled,
        private int $lostMinutes,
    ) {}

    /** Null when nothing was ever pulled. */
    public static function of(Database $database): ?self
    {
        $sums = $database->rows(self::SUMS)[0];

        return $sums['looks'] === null
            ? null
            : new self(
                $sums,
                $database->value('SELECT min(minute) FROM pulled_counts'),
                (int) $database->value('SELECT sum(lost_minutes) FROM pull_shards'),
            );
    }

    /** @return array<string, mixed> */
    public function facts(): array
    {
        return [
            'lists' => $this->sums['lists'],
            'looks' => $this->sums['looks'],
            'views' => $this->sums['views'],
            'counted_looks' => $this->sums['counted_looks'],
            'counted_views' => $this->sums['counted_views'],
            'cut_share' => round($this->cutShare(), 6),
            'oldest_unsettled_at' =>
                $this->oldestUnsettled === null ? null : Rfc3339::format(60 * $this->oldestUnsettled),
            'late_looks' => $this->sums['late_looks'],
            'late_views' => $this->sums['late_views'],
            'lost_minutes' => $this->lostMinutes,
        ];
    }

    public function text(): string
    {
        $unsettled =
            $this->oldestUnsettled === null
                ? 'all settled'
                : 'not settled since ' . Rfc3339::format(60 * $this->oldestUnsettled);
        $late = $this->sums['late_looks'] + $this->sums['late_views'];

        return sprintf(
            '%s looks and %s views of %s lists; the ceiling cut %.1f %%; %s',
            number_format($this->sums['looks']),
            number_format($this->sums['views']),
            number_format($this->sums['lists']),
            100 * $this->cutShare(),
            $unsettled,
        ) .
            ($late === 0 ? '' : '; ' . number_format($late) . ' too late') .
            ($this->lostMinutes === 0 ? '' : '; ' . number_format($this->lostMinutes) . ' minutes lost');
    }

    /** Of looks and views whose minutes are settled. */
    private function cutShare(): float
    {
        $counted = $this->sums['counted_looks'] + $this->sums['counted_views'];

        return $this->sums['settled'] === 0 ? 0.0 : max(0.0, 1 - $counted / $this->sums['settled']);
    }
}
