<?php

declare(strict_types=1);

namespace TrendVault\Writer\Tests\Pull;

use Random\Randomizer;

/** What visitors do in the minutes of some shards, drawn at random; and what a writer must have counted of it. */
final class DrawnMinutes
{
    private const array SHARDS = ['GB-0', 'GB-1', 'DE-0', 'FR-0'];
    /** Below the 48 hours that the edge keeps, and more than the longest test draws. */
    private const int MINUTES_BEFORE_NOW = 2400;
    private const int ROWS_OF_AN_ANSWER = 7;

    /** @var array<string, array<string, mixed>> what the edge holds, by shard */
    private array $held = [];

    /**
     * @param int $now the newest minute: nothing happens in it, so that all that happens can be settled
     * @param list<string> $videos
     */
    public function __construct(
        private readonly FakeEdge $edge,
        private readonly Randomizer $random,
        private readonly int $now,
        private readonly array $videos,
    ) {
        foreach (self::SHARDS as $shard) {
            $this->held[$shard] = [
                'last_closed' => $now - self::MINUTES_BEFORE_NOW,
                'looks' => [],
                'served' => [],
                'limit' => self::ROWS_OF_AN_ANSWER,
            ];
        }
    }

    /** Lets some minutes pass at the edge, in which visitors do something. */
    public function pass(): void
    {
        foreach ($this->held as &$shard) {
            $from = $shard['last_closed'] + 1;
            $until = min($this->now - 1, $from + $this->random->getInt(0, 6) - 1);
            for ($minute = $from; $minute <= $until; $minute++) {
                foreach (range(1, $this->random->getInt(1, 3)) as $generation) {
                    $shard['looks'][] = FakeEdge::impressions($minute, $this->ranks(), '', $generation);
                }
                $shard['served'][] = FakeEdge::served($minute, $this->random->getInt(1, 20));
            }
            $shard['last_closed'] = max($until, $from - 1);
        }
        unset($shard);
        $this->edge->hold($this->held);
    }

    /** Lets all minutes until now pass; nothing happens in them. */
    public function passAll(): void
    {
        foreach ($this->held as &$shard) {
            $shard['last_closed'] = $this->now;
        }
        unset($shard);
        $this->edge->hold($this->held);
    }

    /** @return array<string, array{int, int}> impressions and clicks by region and video, of all shards */
    public function sums(): array
    {
        $sums = [];
        foreach ($this->held as $name => $shard) {
            foreach ($shard['looks'] as ['ranks' => $ranks]) {
                foreach ($ranks as [, $video, $impressions, $clicks]) {
                    $sum = $sums[substr($name, 0, 2) . " $video"] ?? [0, 0];
                    $sums[substr($name, 0, 2) . " $video"] = [$sum[0] + $impressions, $sum[1] + $clicks];
                }
            }
        }
        ksort($sums);

        return $sums;
    }

    /** @return list<array{int, string, int, int}> rank, video, impressions, clicks */
    private function ranks(): array
    {
        $ranks = [];
        foreach ($this->videos as $index => $video) {
            $ranks[] = [$index + 1, $video, $this->random->getInt(0, 9), $this->random->getInt(0, 3)];
        }

        return $ranks;
    }
}
