<?php

declare(strict_types=1);

namespace TrendVault\Writer\Sources\YouTube;

/** One page of a region's chart; without items when it was not modified. */
final readonly class Page
{
    /** @param ?list<array<mixed>> $items null: not modified */
    public function __construct(public ?array $items, public string $etag, public ?string $nextPageToken) {}
}
