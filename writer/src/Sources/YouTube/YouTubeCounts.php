<?php

declare(strict_types=1);

namespace TrendVault\Writer\Sources\YouTube;

use Override;
use Psr\Clock\ClockInterface;
use TrendVault\Writer\Sources\PlatformSource;
use TrendVault\Writer\Sources\Schedule;

/**
 * The views of the videos that charts had lately, between two readings of the charts: fifty videos cost one unit of a
 * quota of their own, a video of many regions is asked for once, and one that left the charts is counted on.
 */
final class YouTubeCounts extends PlatformSource
{
    public const string NAME = 'youtube-counts';

    /** Every ten minutes these are 8,640 of the 10,000 units of a day. */
    private const int MOST_REQUESTS = 60;

    public function __construct(
        private readonly Api $api,
        private readonly ChartedVideos $charted,
        Schedule $schedule,
        ClockInterface $clock,
    ) {
        parent::__construct($schedule, $clock);
    }

    #[Override]
    public function name(): string
    {
        return self::NAME;
    }

    #[Override]
    protected function ask(): iterable
    {
        $regions = $this->charted->recent(self::MOST_REQUESTS * Api::IDS_PER_REQUEST);
        $number = 0;
        foreach (array_chunk(array_map(strval(...), array_keys($regions)), Api::IDS_PER_REQUEST) as $ids) {
            try {
                $items = $this->api->stats($ids);
            } catch (ApiFailure $failure) {
                $this->noteFailure($failure);

                return;
            }
            $this->noteAnswer();
            foreach ($items as $item) {
                $id = $item['id'] ?? null;
                foreach (is_string($id) ? $regions[$id] ?? [] : [] as $region) {
                    yield ++$number => Video::line($item, $region, $this->now());
                }
            }
        }
    }
}
