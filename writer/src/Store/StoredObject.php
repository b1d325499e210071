<?php

declare(strict_types=1);

namespace TrendVault\Writer\Store;

/** An object that was read as a whole. */
final readonly class StoredObject
{
    public function __construct(public string $content, public string $etag) {}
}
