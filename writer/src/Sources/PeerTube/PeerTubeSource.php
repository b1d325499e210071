<?php

declare(strict_types=1);

namespace TrendVault\Writer\Sources\PeerTube;

use Generator;
use Override;
use Psr\Clock\ClockInterface;
use TrendVault\Writer\Database\Database;
use TrendVault\Writer\Database\Erasures;
use TrendVault\Writer\Sources\PlatformFailure;
use TrendVault\Writer\Sources\PlatformSource;
use TrendVault\Writer\Sources\RunTime;
use TrendVault\Writer\Sources\Schedule;
use TrendVault\Writer\Sources\SourceFailure;
use TrendVault\Writer\Time\Rfc3339;

/**
 * The videos of one PeerTube instance, those first that had most views there lately. What does not fit into the time of
 * a run is read by the next ones.
 */
final class PeerTubeSource extends PlatformSource
{
    /** A request that is begun late may end, too. */
    private const float LEAST_REQUEST_SECONDS = 10.0;
    /** After so many pages in a row without an answer the run asks for no more. */
    private const int MOST_FAILURES_IN_A_ROW = 2;
    private const int MOST_HOST_CHARACTERS = 100;

    /** @var array<int, array{etag: ?string, item_count: int, videos: list<array<string, array<mixed>|bool|int|string>>}> what this run received, by number of the page */
    private array $received = [];
    /** With which the next run begins. */
    private int $next = 0;
    /** All pages of the instance; null when the run did not come to the end. */
    private ?int $pageCount = null;

    /** @param int $mostPages of the instance */
    public function __construct(
        private readonly InstanceUrl $instance,
        private readonly Api $api,
        private readonly KnownPages $known,
        Schedule $schedule,
        private readonly RegionRule $rule,
        private readonly RunTime $time,
        ClockInterface $clock,
        private readonly int $mostPages,
    ) {
        parent::__construct($schedule, $clock);
    }

    #[Override]
    public function name(): string
    {
        return 'peertube-' . trim((string) preg_replace('/[^a-z0-9.-]+/', '-', $this->instance->host), '-');
    }

    /** Two hosts can have one name. */
    #[Override]
    public function ownName(): string
    {
        return $this->name() . '-' . substr(hash('sha256', $this->instance->host), 0, 8);
    }

    #[Override]
    protected function ask(): iterable
    {
        [$lineNumber, $videoCount, $known] = [0, 0, $this->known->next()];
        foreach ($this->pages($known < $this->mostPages ? $known : 0) as $page) {
            $videoCount += count($page['videos']);
            foreach ($page['videos'] as $fields) {
                $language = $fields['language'] ?? null;
                foreach ($this->rule->regions(is_string($language) ? $language : null) as $region) {
                    yield ++$lineNumber => $this->line($fields, $region);
                }
            }
        }
        if ($videoCount > 0 && $lineNumber === 0) {
            $this->noteFailure(
                new PlatformFailure(
                    "None of $videoCount videos of {$this->instance->host} is in a language of a region. Name regions for them, for example peertube:{$this->instance->url}#language+GB.",
                ),
            );
        }
    }

    /** Remembers the pages, too, once their videos are stored. */
    #[Override]
    public function settle(bool $clean): void
    {
        $this->known->save($this->received, $this->next, $this->pageCount);
        parent::settle($clean);
    }

    /**
     * @param int $first number of the page to begin with
     * @return Generator<array{etag: ?string, item_count: int, videos: list<array<string, array<mixed>|bool|int|string>>}>
     */
    private function pages(int $first): Generator
    {
        [$seen, $isLast, $failuresInARow] = [[], false, 0];
        for ($number = $first; $number < $this->mostPages && !$isLast; $number++) {
            if ($number > $first && $this->time->shareSecondsLeft() <= 0) {
                $this->next = $this->nextAfter($first, $number);

                return;
            }
            try {
                $page = $this->received[$number] = $this->page($number);
            } catch (PlatformFailure $failure) {
                $this->noteFailure($failure);
                if ($failure->isRefusal || ++$failuresInARow >= self::MOST_FAILURES_IN_A_ROW) {
                    $unasked = $failure->retryAfterSeconds > 0 ? $number : $number + 1;
                    $this->next = $this->nextAfter($first, $unasked);

                    return;
                }
                continue;
            }
            $failuresInARow = 0;
            $this->noteAnswer();
            yield $page;
            $ids = array_fill_keys(array_map(strval(...), array_column($page['videos'], 'id')), true);
            // One that gives the same videos again and again has no end.
            $isLast =
                $page['item_count'] < Api::VIDEOS_PER_PAGE ||
                ($ids !== [] && array_diff_key($ids, $seen) === []);
            $seen += $ids;
        }
        $this->pageCount = $number;
    }

    /**
     * Behind the pages that failed, which would else hide the later ones for ever; an instance of which not even the
     * first page came is read from its start.
     *
     * @param int $first page of this run
     * @param int $unasked the page at which it stopped
     */
    private function nextAfter(int $first, int $unasked): int
    {
        $isDown = $first === 0 && $this->received === [];

        return $isDown || $unasked >= $this->mostPages ? 0 : $unasked;
    }

    /**
     * @return array{etag: ?string, item_count: int, videos: list<array<string, array<mixed>|bool|int|string>>}
     * @throws PlatformFailure
     */
    private function page(int $number): array
    {
        $known = $this->known->find($number);
        $seconds = max(self::LEAST_REQUEST_SECONDS, $this->time->shareSecondsLeft());
        $page = $this->api->page($number, $known['etag'] ?? null, $seconds);

        return $page->items === null && $known !== null ? $known : $this->read($page, $number);
    }

    /**
     * @return array{etag: ?string, item_count: int, videos: list<array<string, array<mixed>|bool|int|string>>}
     * @throws PlatformFailure
     */
    private function read(Page $page, int $number): array
    {
        $items = $page->items ?? [];
        $host = $this->instance->host;
        $own = array_filter($items, static fn(mixed $item): bool => Video::isOf($item, $host));
        if ($number === 0 && $own === [] && $items !== []) {
            throw new PlatformFailure(
                "$host lists no video of its own, only such of " .
                    (self::plainText(Video::host($items[0]), self::MOST_HOST_CHARACTERS) ?? 'nobody') .
                    '. Name an instance by the address that its own videos have.',
                isRefusal: true,
            );
        }
        $now = $this->now();
        $videos = array_map(
            fn(array $item): ?array => Video::fields($item, $this->instance, $now),
            array_values($own),
        );

        return [
            'etag' => $page->etag,
            'item_count' => count($items),
            'videos' => array_values(array_filter($videos)),
        ];
    }

    /**
     * The counts are those of now, also on a page that was not modified.
     *
     * @param array<string, array<mixed>|bool|int|string> $fields
     */
    private function line(array $fields, string $region): string
    {
        return json_encode(
            [...$fields, 'region' => $region, 'observed_at' => Rfc3339::format($this->now())],
            JSON_UNESCAPED_SLASHES | JSON_UNESCAPED_UNICODE | JSON_THROW_ON_ERROR,
        );
    }
}

/** In which regions a video counts: PeerTube knows how often it was viewed, not where. */
final readonly class RegionRule
{
    /**
     * @param array<string, list<string>> $languages the BCP 47 languages of each region, by code
     * @param bool $byLanguage whether a video counts where its language is spoken
     * @param list<string> $named of all videos, or with $byLanguage of those whose language no region speaks
     */
    private function __construct(private array $languages, private bool $byLanguage, private array $named) {}

    /**
     * @param array<string, list<string>> $languages of each region, by code
     * @throws SourceFailure when it names a region that does not exist
     */
    public static function of(InstanceUrl $instance, array $languages): self
    {
        $unknown = array_diff($instance->regions, array_keys($languages));

        return $unknown === []
            ? new self($languages, $instance->byLanguage, $instance->regions)
            : throw SourceFailure::because(
                "Cannot read $instance->url: " .
                    reset($unknown) .
                    ' is no region. Expected one or more of ' .
                    implode(', ', array_keys($languages)) .
                    ' behind #, with + between.',
            );
    }

    /**
     * @param ?string $language BCP 47; null when it is not known
     * @return list<string> codes; none when the video is to be left out
     */
    public function regions(?string $language): array
    {
        $speaking =
            $this->byLanguage && $language !== null
                ? array_keys(
                    array_filter(
                        $this->languages,
                        static fn(array $ofRegion): bool => in_array(
                            self::primary($language),
                            array_map(self::primary(...), $ofRegion),
                            true,
                        ),
                    ),
                )
                : [];

        return $speaking === [] ? $this->named : array_map(strval(...), $speaking);
    }

    private static function primary(string $language): string
    {
        return strtolower(explode('-', $language, 2)[0]);
    }
}

/**
 * What is known of an instance from earlier runs: its pages as they were received, and where the next run goes on. A page
 * has its entity tag, null when the instance gave none; how many videos the instance listed; and fields of those that
 * count here.
 */
final readonly class KnownPages
{
    private const string FIND = 'SELECT etag, item_count, videos FROM peertube_pages WHERE host = ? AND page = ?';
    private const string SAVE_PAGE = <<<'SQL'
    INSERT INTO peertube_pages (host, page, etag, item_count, videos) VALUES (?, ?, ?, ?, ?)
    ON CONFLICT DO UPDATE SET etag = excluded.etag, item_count = excluded.item_count, videos = excluded.videos
    SQL;
    private const string SAVE_NEXT = <<<'SQL'
    INSERT INTO peertube_instances (host, next_page) VALUES (?, ?)
    ON CONFLICT DO UPDATE SET next_page = excluded.next_page
    SQL;
    private const int MOST_UNPACKED_BYTES = 4 * 1024 * 1024;

    public function __construct(private Database $database, private string $host) {}

    /** The page, from 0, with which the next run begins; more than 0 when the last one did not come to the end. */
    public function next(): int
    {
        $sql = 'SELECT next_page FROM peertube_instances WHERE host = ?';

        return $this->database->number($sql, [$this->host]) ?? 0;
    }

    /** @return ?array{etag: ?string, item_count: int, videos: list<array<string, array<mixed>|bool|int|string>>} null when it is not known, or cannot be asked for by an entity tag */
    public function find(int $number): ?array
    {
        /** @var ?array{etag: string, item_count: int, videos: string} $row */
        $row = $this->database->row(self::FIND, [$this->host, $number]);

        return $row === null ? null : [...$row, 'videos' => self::unpacked($row['videos'])];
    }

    /**
     * @param array<int, array{etag: ?string, item_count: int, videos: list<array<string, array<mixed>|bool|int|string>>}> $pages by number
     * @param int $next with which the next run begins
     * @param ?int $count of all pages; null when that is not known
     */
    public function save(array $pages, int $next, ?int $count): void
    {
        $this->database->transaction(function () use ($pages, $next, $count): void {
            foreach ($pages as $number => $page) {
                $this->savePage($number, $page);
            }
            if ($count !== null) {
                $this->database->run('DELETE FROM peertube_pages WHERE host = ? AND page >= ?', [
                    $this->host,
                    $count,
                ]);
            }
            $this->database->run(self::SAVE_NEXT, [$this->host, $next]);
        });
    }

    /**
     * @param list<array<string, array<mixed>|bool|int|string>> $videos
     * @return list<array<string, array<mixed>|bool|int|string>>
     */
    private function withoutErased(array $videos): array
    {
        $erasures = new Erasures($this->database);
        $text = static fn(mixed $value): string => is_string($value) ? $value : '';

        return array_values(
            array_filter(
                $videos,
                static fn(array $video): bool => !$erasures->hasVideo($text($video['id'] ?? null)) &&
                    !$erasures->hasChannel($text($video['channel'] ?? null)),
            ),
        );
    }

    /** @param array{etag: ?string, item_count: int, videos: list<array<string, array<mixed>|bool|int|string>>} $page */
    private function savePage(int $number, array $page): void
    {
        if ($page['etag'] === null) {
            $this->database->run('DELETE FROM peertube_pages WHERE host = ? AND page = ?', [
                $this->host,
                $number,
            ]);

            return;
        }
        $this->database->run(self::SAVE_PAGE, [
            $this->host,
            $number,
            $page['etag'],
            $page['item_count'],
            self::packed($this->withoutErased($page['videos'])),
        ]);
    }

    /** @param list<array<string, array<mixed>|bool|int|string>> $videos */
    private static function packed(array $videos): string
    {
        $flags = JSON_UNESCAPED_SLASHES | JSON_UNESCAPED_UNICODE | JSON_THROW_ON_ERROR;

        return base64_encode((string) gzcompress(json_encode($videos, $flags)));
    }

    /** @return list<array<string, array<mixed>|bool|int|string>> */
    private static function unpacked(string $packed): array
    {
        $json = gzuncompress((string) base64_decode($packed), self::MOST_UNPACKED_BYTES);

        /** @var ?list<array<string, array<mixed>|bool|int|string>> $videos as packed() had them; null when they are damaged */
        $videos = json_decode((string) $json, true);

        return $videos ?? [];
    }
}
