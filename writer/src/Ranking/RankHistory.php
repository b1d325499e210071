<?php

declare(strict_types=1);

namespace TrendVault\Writer\Ranking;

use TrendVault\Writer\Database\Database;

/**
 * Where videos were in the same lists about an hour ago. Every five minutes the ids of all lists are kept, in the order
 * of their ranks: generations themselves are deleted within the hour. Times are UTC seconds. The caller holds the
 * transaction.
 */
final readonly class RankHistory
{
    private const int COMPARED_SECONDS = 3600;
    /** What is older says nothing about the last hour: the writer has paused. */
    private const int MAX_AGE_SECONDS = 4500;
    private const int INTERVAL_SECONDS = 300;

    private const string TIMES = <<<'SQL'
    WITH RECURSIVE times (at) AS (
      SELECT min(published_at) FROM rank_snapshots WHERE published_at >= ?1
      UNION ALL SELECT (SELECT min(published_at) FROM rank_snapshots WHERE published_at > at) FROM times WHERE at IS NOT NULL
    )
    SELECT at FROM times WHERE at < ?2
    SQL;
    private const string LISTS = 'SELECT region, window, category, video_ids FROM rank_snapshots WHERE published_at = ?';
    private const string KEEP = 'INSERT INTO rank_snapshots (published_at, region, window, category, video_ids) VALUES (?, ?, ?, ?, ?)';
    private const string FORGET = 'DELETE FROM rank_snapshots WHERE published_at < ? OR published_at >= ?';

    /**
     * @param ?int $comparedAt when the lists were published that ranks are compared with; null without any
     * @param array<string, string> $before the ids of each list of then, by its name
     * @param bool $keeps whether the lists of now are to be kept
     */
    private function __construct(
        private Database $database,
        private int $now,
        public ?int $comparedAt,
        private array $before,
        private bool $keeps,
    ) {}

    /** @param int $now the time of the lists that are compared and kept */
    public static function at(Database $database, int $now): self
    {
        $times = $database->integers(self::TIMES, [$now - self::MAX_AGE_SECONDS, $now]);
        $comparedAt = self::nearest($times, $now - self::COMPARED_SECONDS);
        $before = [];
        foreach ($comparedAt === null ? [] : $database->rows(self::LISTS, [$comparedAt]) as $row) {
            /** @var array{region: string, window: string, category: string, video_ids: string} $row */
            $before["{$row['region']} {$row['window']} {$row['category']}"] = $row['video_ids'];
        }
        $newest = $times === [] ? 0 : max($times);
        $keeps = intdiv($now, self::INTERVAL_SECONDS) > intdiv($newest, self::INTERVAL_SECONDS);

        return new self($database, $now, $comparedAt, $before, $keeps);
    }

    /** @return array<int> ranks from 0 in the same list at `comparedAt`, by id; a video that was not in it has none */
    public function before(RankedList $list): array
    {
        $ids = $this->before["$list->region {$list->window->value} $list->category"] ?? null;

        return $ids === null ? [] : array_flip(explode(' ', $ids));
    }

    /** Deletes what is too old, or of a time that has not come yet, because the clock was set back. */
    public function forget(): void
    {
        if ($this->keeps) {
            $this->database->run(self::FORGET, [$this->now - self::MAX_AGE_SECONDS, $this->now]);
        }
    }

    /** Keeps a list, if those of now are to be kept. */
    public function keep(RankedList $list): void
    {
        if ($this->keeps && $list->candidates !== []) {
            $this->database->run(self::KEEP, [
                $this->now,
                $list->region,
                $list->window->value,
                $list->category,
                implode(' ', array_column($list->candidates, 'videoId')),
            ]);
        }
    }

    /** @param list<int> $times */
    private static function nearest(array $times, int $wanted): ?int
    {
        usort(
            $times,
            static fn(int $left, int $right): int => abs($left - $wanted) <=> abs($right - $wanted),
        );

        return $times[0] ?? null;
    }
}
