<?php

declare(strict_types=1);

namespace TrendVault\Writer\Sources\PeerTube;

use Generator;
use Override;
use Psr\Clock\ClockInterface;
use TrendVault\Writer\Sources\PlainText;
use TrendVault\Writer\Sources\PlatformSource;
use TrendVault\Writer\Sources\Schedule;
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

    /** @var array<int, KnownPage> what this run received, by number of the page */
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
            $videoCount += count($page->videos);
            foreach ($page->videos as $fields) {
                foreach ($this->rule->regions($fields['language'] ?? null) as $region) {
                    yield ++$lineNumber => $this->line($fields, $region);
                }
            }
        }
        if ($videoCount > 0 && $lineNumber === 0) {
            $this->noteFailure(
                InstanceFailure::because(
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
     * @return Generator<KnownPage>
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
            } catch (InstanceFailure $failure) {
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
            $ids = array_fill_keys(array_column($page->videos, 'id'), true);
            // One that gives the same videos again and again has no end.
            $isLast =
                $page->itemCount < Api::VIDEOS_PER_PAGE ||
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

    /** @throws InstanceFailure */
    private function page(int $number): KnownPage
    {
        $known = $this->known->find($number);
        $seconds = max(self::LEAST_REQUEST_SECONDS, $this->time->shareSecondsLeft());
        $page = $this->api->page($number, $known?->etag, $seconds);

        return $page->items === null && $known !== null ? $known : $this->read($page, $number);
    }

    /** @throws InstanceFailure */
    private function read(Page $page, int $number): KnownPage
    {
        $items = $page->items ?? [];
        $host = $this->instance->host;
        $own = array_filter($items, static fn(mixed $item): bool => Video::isOf($item, $host));
        if ($number === 0 && $own === [] && $items !== []) {
            throw InstanceFailure::refusal(
                "$host lists no video of its own, only such of " .
                    (PlainText::of(Video::host($items[0]), self::MOST_HOST_CHARACTERS) ?? 'nobody') .
                    '. Name an instance by the address that its own videos have.',
            );
        }
        $now = $this->now();
        $videos = array_map(
            fn(array $item): ?array => Video::fields($item, $this->instance, $now),
            array_values($own),
        );

        return new KnownPage($page->etag, count($items), array_values(array_filter($videos)));
    }

    /**
     * The counts are those of now, also on a page that was not modified.
     *
     * @param array<string, int|string> $fields
     */
    private function line(array $fields, string $region): string
    {
        return json_encode(
            [...$fields, 'region' => $region, 'observed_at' => Rfc3339::format($this->now())],
            JSON_UNESCAPED_SLASHES | JSON_UNESCAPED_UNICODE | JSON_THROW_ON_ERROR,
        );
    }
}
