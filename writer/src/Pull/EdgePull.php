<?php

declare(strict_types=1);

namespace TrendVault\Writer\Pull;

use Closure;
use Generator;
use Psr\Clock\ClockInterface;
use TrendVault\Writer\Sources\Edge\EdgeClient;
use TrendVault\Writer\Sources\Edge\EdgeFailure;

/** Pulls the closed minutes of all shards side by side, as far as the time reaches. A shard that fails does not keep the others. */
final class EdgePull
{
    /** After so many shards in a row without an answer the others are not asked. */
    private const int MOST_FAILURES_IN_A_ROW = 3;

    /** @var array<string, PulledCounts> by shard, of those that answered */
    private array $pulled = [];
    /** @var list<EdgeFailure> */
    private array $failures = [];
    private int $failuresInARow = 0;

    public function __construct(
        private readonly EdgeClient $edge,
        private readonly ShardStore $shards,
        private readonly ClockInterface $clock,
    ) {}

    /**
     * @return array{array<string, PulledCounts>, list<string>} what was pulled, by shard of those that answered; and why
     *   others did not, each sentence once
     */
    public function run(): array
    {
        try {
            $this->shards->list($this->edge->shards(), $this->now());
        } catch (EdgeFailure $failure) {
            $this->failures[] = $failure;
        }
        if (!$this->isSilent()) {
            $this->edge->sideBySide($this->tasks());
        }

        $messages = array_map(
            static fn(EdgeFailure $failure): string => $failure->getMessage(),
            $this->failures,
        );

        return [$this->pulled, array_values(array_unique($messages))];
    }

    /** Whether a request waited for the edge in vain. */
    public function isSilent(): bool
    {
        return array_any($this->failures, static fn(EdgeFailure $failure): bool => $failure->isSilence);
    }

    /** @return Generator<Closure(): void> */
    private function tasks(): Generator
    {
        foreach ($this->shards->toAsk($this->now()) as $shard => $after) {
            if ($this->isRefused() || $this->failuresInARow >= self::MOST_FAILURES_IN_A_ROW) {
                return;
            }
            if (!$this->edge->hasTime()) {
                $this->failures[] = EdgeFailure::late($shard);

                return;
            }
            yield fn() => $this->pull($shard, $after);
        }
    }

    private function pull(string $shard, ?int $after): void
    {
        $this->shards->ask($shard, $this->now());
        $sum = new PulledCounts();
        try {
            do {
                $minutes = $this->edge->minutes($shard, $after);
                $sum->addAll($this->shards->add($minutes, $this->now()));
                $this->pulled[$shard] = $sum;
                $after = $minutes->until;
            } while ($minutes->hasMore());
            $this->failuresInARow = 0;
        } catch (EdgeFailure $failure) {
            $this->failures[] = $failure;
            $this->failuresInARow++;
        }
    }

    private function isRefused(): bool
    {
        return array_any($this->failures, static fn(EdgeFailure $failure): bool => $failure->isRefusal);
    }

    private function now(): int
    {
        return $this->clock->now()->getTimestamp();
    }
}
