<?php

declare(strict_types=1);

namespace TrendVault\Writer\Sources\YouTube;

use Generator;
use Override;
use Psr\Clock\ClockInterface;
use TrendVault\Writer\Sources\PlatformSource;
use TrendVault\Writer\Sources\Schedule;

/** The most popular videos of every region, as YouTube's Data API v3 lists them. */
final class YouTubeSource extends PlatformSource
{
    public const string NAME = 'youtube';

    private const string ID = '/^[A-Za-z0-9_-]{1,20}$/D';
    /** A chart has at most 200 videos. */
    private const int MOST_PAGES = 4;
    /** After so many regions in a row without an answer the others are not asked. */
    private const int MOST_FAILURES_IN_A_ROW = 3;

    /** @var array<string, array<int, Page>> the pages that this run received, by region and number */
    private array $received = [];
    /** @var array<string, array<int, ?list<string>>> ids by region and number of the page; null: it has not changed */
    private array $charted = [];
    private ?ApiFailure $lastFailure = null;
    private int $failuresInARow = 0;

    /** @param list<string> $regions */
    public function __construct(
        private readonly Api $api,
        private readonly KnownPages $known,
        private readonly ChartedVideos $chartedVideos,
        Schedule $schedule,
        private readonly RegionTurns $turns,
        private readonly array $regions,
        ClockInterface $clock,
    ) {
        parent::__construct($schedule, $clock);
    }

    #[Override]
    public function name(): string
    {
        return self::NAME;
    }

    /** A region that fails does not keep the others from being requested. */
    #[Override]
    protected function ask(): iterable
    {
        $number = 0;
        foreach ($this->turns->sorted($this->regions) as $region) {
            if ($this->mustStop($region)) {
                break;
            }
            $this->turns->ask($region, $this->now());
            try {
                foreach ($this->chart($region) as $item) {
                    yield ++$number => Video::line($item, $region, $this->now());
                }
                $this->failuresInARow = 0;
                $this->noteAnswer();
            } catch (ApiFailure $failure) {
                $this->lastFailure = $failure;
                $this->noteFailure($failure);
                $this->failuresInARow++;
            }
        }
    }

    /** Remembers the pages, too, once their videos are stored. */
    #[Override]
    public function settle(bool $clean): void
    {
        $this->known->save($this->received, $this->now());
        $this->chartedVideos->save($this->charted, $this->now());
        parent::settle($clean);
    }

    private function mustStop(string $next): bool
    {
        if ($this->lastFailure?->isRefusal() || $this->failuresInARow >= self::MOST_FAILURES_IN_A_ROW) {
            return true;
        }
        if (!$this->api->hasTime()) {
            $this->noteFailure(ApiFailure::late($next));

            return true;
        }

        return false;
    }

    /**
     * Where a page did not change, the token of the next one is from an earlier run and may have expired: the chart is
     * then read from its start, as if nothing were known.
     *
     * @return Generator<array<mixed>> items that may have changed
     * @throws ApiFailure
     */
    private function chart(string $region, bool $usesKnown = true): Generator
    {
        [$token, $isOldToken] = [null, false];
        for ($number = 1; $number <= self::MOST_PAGES; $number++) {
            $known = $usesKnown ? $this->known->find($region, $number) : null;
            try {
                $page = $this->api->page($region, $token, $known?->etag);
            } catch (ApiFailure $failure) {
                if (!$isOldToken || $failure->error !== ApiError::Unexpected) {
                    throw $failure;
                }
                yield from $this->chart($region, usesKnown: false);

                return;
            }
            $this->charted[$region][$number] = self::ids($page->items);
            yield from $page->items ?? [];
            $isOldToken = $page->items === null;
            $page = $isOldToken && $known !== null ? $known : $page;
            if ($page->etag !== '') {
                $this->received[$region][$number] = $page;
            }
            $token = $page->nextPageToken;
            if ($token === null) {
                return;
            }
        }
    }

    /**
     * @param ?list<array<mixed>> $items
     * @return ?list<string>
     */
    private static function ids(?array $items): ?array
    {
        return $items === null
            ? null
            : array_values(
                array_filter(
                    array_column($items, 'id'),
                    static fn(mixed $id): bool => is_string($id) && preg_match(self::ID, $id) === 1,
                ),
            );
    }
}
