<?php

declare(strict_types=1);

namespace TrendVault\Writer\Sources\YouTube;

/** One page of a market's chart. Without items when it is as it was. */
final readonly class Page
{
    /** @param ?list<array<mixed>> $items null: not modified */
    public function __construct(public ?array $items, public string $etag, public ?string $nextPageToken) {}
}
