<?php

declare(strict_types=1);

namespace TrendVault\Writer\Sources\YouTube;

use Override;
use Psr\Clock\ClockInterface;
use TrendVault\Writer\Sources\RejectStore;
use TrendVault\Writer\Sources\Schedule;
use TrendVault\Writer\Sources\Source;
use TrendVault\Writer\Sources\SourceFailure;

/**
 * The views of the videos that charts had lately, between two readings of the charts: fifty videos cost one unit of a
 * quota of their own, a video of many regions is asked for once, and one that left the charts is counted on.
 */
final class YouTubeCounts implements Source
{
    public const string NAME = 'youtube-counts';

    /** Every ten minutes these are 8,640 of the 10,000 units of a day. */
    private const int MOST_REQUESTS = 60;

    private bool $hasAnswer = false;
    private ?ApiFailure $failure = null;

    public function __construct(
        private readonly Api $api,
        private readonly ChartedVideos $charted,
        private readonly Schedule $schedule,
        private readonly ClockInterface $clock,
    ) {}

    #[Override]
    public function name(): string
    {
        return self::NAME;
    }

    #[Override]
    public function lines(): iterable
    {
        $this->schedule->begin($this->now());
        $regions = $this->charted->recent(self::MOST_REQUESTS * Api::IDS_PER_REQUEST);
        $number = 0;
        foreach (array_chunk(array_map(strval(...), array_keys($regions)), Api::IDS_PER_REQUEST) as $ids) {
            foreach ($this->stats($ids) as $item) {
                $id = $item['id'] ?? null;
                foreach (is_string($id) ? $regions[$id] ?? [] : [] as $region) {
                    yield ++$number => Video::line($item, $region, $this->now());
                }
            }
        }
    }

    #[Override]
    public function progress(): ?float
    {
        return null;
    }

    #[Override]
    public function rejects(): ?RejectStore
    {
        return null;
    }

    #[Override]
    public function settle(bool $clean): void
    {
        if ($this->hasAnswer) {
            $this->schedule->succeed();
        }
        if ($this->failure !== null) {
            $seconds = $this->failure->secondsToWait($this->schedule->intervalSeconds, $this->now());
            $this->schedule->fail($this->failure->getMessage(), $seconds, $this->now());
        }
    }

    /**
     * @param list<string> $ids
     * @return list<array<mixed>>
     * @throws SourceFailure
     */
    private function stats(array $ids): array
    {
        try {
            $items = $this->api->stats($ids);
            $this->hasAnswer = true;

            return $items;
        } catch (ApiFailure $failure) {
            $this->failure = $failure;
            throw SourceFailure::because($failure->getMessage());
        }
    }

    private function now(): int
    {
        return $this->clock->now()->getTimestamp();
    }
}
