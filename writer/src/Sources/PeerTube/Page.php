<?php

declare(strict_types=1);

namespace TrendVault\Writer\Sources\PeerTube;

/** A page of an instance's list; without items when it was not modified. */
final readonly class Page
{
    /**
     * @param ?list<mixed> $items as PeerTube has them; null: not modified
     * @param ?string $etag null when the instance gives none
     */
    public function __construct(public ?array $items, public ?string $etag) {}
}
