<?php

declare(strict_types=1);

namespace TrendVault\Writer\Sources\PeerTube;

/** A page of an instance's list as it was received. */
final readonly class KnownPage
{
    /**
     * @param ?string $etag null when the instance gave none
     * @param int $itemCount how many videos the instance listed
     * @param list<array<string, int|string>> $videos fields of those that count here
     */
    public function __construct(public ?string $etag, public int $itemCount, public array $videos) {}
}
