<?php

declare(strict_types=1);

namespace TrendVault\Writer\Store;

/** An object as a list of the store names it. */
final readonly class ListedObject
{
    /**
     * @param string $key relative to the prefix
     * @param int $modifiedAt UTC seconds, by the store's clock
     */
    public function __construct(public string $key, public int $bytes, public int $modifiedAt) {}
}
