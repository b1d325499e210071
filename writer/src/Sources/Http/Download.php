<?php

declare(strict_types=1);

namespace TrendVault\Writer\Sources\Http;

/** A body that was received whole. */
final readonly class Download
{
    /**
     * @param resource $stream at its beginning; the file has no name any more and goes with the stream
     * @param ?string $etag the server's entity tag
     */
    public function __construct(public mixed $stream, public int $bytes, public ?string $etag) {}
}
