<?php

declare(strict_types=1);

namespace TrendVault\Writer\Sources\YouTube;

use Generator;
use Override;
use TrendVault\Writer\Sources\RejectStore;
use TrendVault\Writer\Sources\Source;
use TrendVault\Writer\Sources\SourceFailure;
use Psr\Clock\ClockInterface;

/** The most popular videos of every region, as YouTube's Data API v3 lists them. */
final class YouTubeSource implements Source
{
    /** A chart has at most 200 videos. */
    private const int MOST_PAGES = 4;

    /** @var array<string, array<int, Page>> the pages that this run received, by region and number */
    private array $received = [];
    /** @var list<string> */
    private array $failures = [];

    /** @param list<string> $regions */
    public function __construct(
        private readonly Api $api,
        private readonly KnownPages $known,
        private readonly array $regions,
        private readonly ClockInterface $clock,
    ) {}

    #[Override]
    public function name(): string
    {
        return 'youtube';
    }

    /** A region that fails does not keep the others from being requested. */
    #[Override]
    public function lines(): iterable
    {
        $number = 0;
        try {
            foreach ($this->regions as $region) {
                foreach ($this->chart($region) as $item) {
                    yield ++$number => Video::line($item, $region, $this->clock->now()->getTimestamp());
                }
            }
        } catch (Refused $reason) {
            $this->failures[] = $reason->getMessage();
        }
        if ($this->failures !== []) {
            throw SourceFailure::because(implode(' ', array_unique($this->failures)));
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

    /** Remembers the pages once their videos are stored. */
    #[Override]
    public function settle(bool $clean): void
    {
        $this->known->save($this->received, $this->clock->now()->getTimestamp());
    }

    /**
     * @return Generator<array<mixed>> items that may have changed
     * @throws Refused
     */
    private function chart(string $region): Generator
    {
        $token = null;
        for ($number = 1; $number <= self::MOST_PAGES; $number++) {
            $known = $this->known->find($region, $number);
            try {
                $page = $this->api->page($region, $token, $known?->etag);
            } catch (SourceFailure $failure) {
                $this->failures[] = $failure->getMessage();

                return;
            }
            yield from $page->items ?? [];
            $page = $page->items === null && $known !== null ? $known : $page;
            if ($page->etag !== '') {
                $this->received[$region][$number] = $page;
            }
            $token = $page->nextPageToken;
            if ($token === null) {
                return;
            }
        }
    }
}
