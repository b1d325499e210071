<?php

declare(strict_types=1);

namespace TrendVault\Writer\Sources\YouTube;

use Generator;
use Override;
use Psr\Clock\ClockInterface;
use TrendVault\Writer\Database\Database;
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
        private readonly Charts $charts,
        Schedule $schedule,
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
        foreach ($this->charts->sorted($this->regions) as $region) {
            if ($this->mustStop($region)) {
                break;
            }
            $this->charts->ask($region, $this->now());
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
        $this->charts->save($this->received, $this->charted, $this->now());
        parent::settle($clean);
    }

    private function mustStop(string $next): bool
    {
        if ($this->lastFailure?->isRefusal || $this->failuresInARow >= self::MOST_FAILURES_IN_A_ROW) {
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
            $known = $usesKnown ? $this->charts->find($region, $number) : null;
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
                    array_filter(array_column($items, 'id'), is_string(...)),
                    static fn(string $id): bool => preg_match(self::ID, $id) === 1,
                ),
            );
    }
}

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
        private readonly Charts $charts,
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
        $regions = $this->charts->recent(self::MOST_REQUESTS * Api::IDS_PER_REQUEST);
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

/** What is known of the charts: their pages as they were last, the videos that they had lately, and whose turn it is. */
final readonly class Charts
{
    private const string SAVE_PAGE = <<<'SQL'
    INSERT INTO youtube_pages (region, page, etag, next_page_token, fetched_at) VALUES (?, ?, ?, ?, ?)
    ON CONFLICT DO UPDATE SET etag = excluded.etag, next_page_token = excluded.next_page_token, fetched_at = excluded.fetched_at
    SQL;
    private const string ADD_VIDEO = <<<'SQL'
    INSERT INTO youtube_videos (region, video_id, page, charted_at) VALUES (?, ?, ?, ?)
    ON CONFLICT DO UPDATE SET page = excluded.page, charted_at = excluded.charted_at
    SQL;
    private const string STILL_CHARTED = 'UPDATE youtube_videos SET charted_at = ? WHERE region = ? AND page = ?';
    private const string RECENT = <<<'SQL'
    SELECT video_id, region FROM youtube_videos WHERE video_id IN (
      SELECT video_id FROM youtube_videos JOIN videos ON videos.id = video_id
      GROUP BY video_id ORDER BY max(charted_at) DESC, video_id LIMIT ?
    ) ORDER BY video_id, region
    SQL;
    /** A video is counted for so long after the last chart that had it. */
    private const int KEPT_SECONDS = 2 * 86_400;
    private const string ASK = <<<'SQL'
    INSERT INTO youtube_regions (region, asked_at) VALUES (?, ?)
    ON CONFLICT DO UPDATE SET asked_at = excluded.asked_at
    SQL;

    public function __construct(private Database $database) {}

    /** With the ETag and the token of the next page. */
    public function find(string $region, int $number): ?Page
    {
        /** @var ?array{etag: string, next_page_token: ?string} $row */
        $row = $this->database->row(
            'SELECT etag, next_page_token FROM youtube_pages WHERE region = ? AND page = ?',
            [$region, $number],
        );

        return $row === null ? null : new Page(null, $row['etag'], $row['next_page_token']);
    }

    /**
     * @param array<string, array<int, Page>> $pages by region and number
     * @param array<string, array<int, ?list<string>>> $videos ids by region and number of the page; null: it has not changed
     * @param int $now UTC seconds
     */
    public function save(array $pages, array $videos, int $now): void
    {
        $this->database->transaction(function () use ($pages, $videos, $now): void {
            foreach ($pages as $region => $ofRegion) {
                foreach ($ofRegion as $number => $page) {
                    $values = [$region, $number, $page->etag, $page->nextPageToken, $now];
                    $this->database->run(self::SAVE_PAGE, $values);
                }
            }
            foreach ($videos as $region => $ofRegion) {
                foreach ($ofRegion as $number => $ids) {
                    if ($ids === null) {
                        $this->database->run(self::STILL_CHARTED, [$now, $region, $number]);
                    }
                    foreach ($ids ?? [] as $id) {
                        $this->database->run(self::ADD_VIDEO, [$region, $id, $number, $now]);
                    }
                }
            }
            $this->database->run('DELETE FROM youtube_videos WHERE charted_at < ?', [
                $now - self::KEPT_SECONDS,
            ]);
        });
    }

    /**
     * Those that are stored, the ones that were charted last first if there are more than so many.
     *
     * @return array<string, list<string>> regions by id
     */
    public function recent(int $most): array
    {
        $regions = [];
        /** @var list<array{video_id: string, region: string}> $rows */
        $rows = $this->database->rows(self::RECENT, [$most]);
        foreach ($rows as ['video_id' => $id, 'region' => $region]) {
            $regions[$id][] = $region;
        }

        return $regions;
    }

    /** @param int $now UTC seconds; when the chart of this region is asked for */
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
        /** @var array<string, int> $askedAt */
        $askedAt = array_column(
            $this->database->rows('SELECT region, asked_at FROM youtube_regions'),
            'asked_at',
            'region',
        );
        usort($regions, static fn(string $a, string $b): int => ($askedAt[$a] ?? 0) <=> ($askedAt[$b] ?? 0));

        return $regions;
    }
}
