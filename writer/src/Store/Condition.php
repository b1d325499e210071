<?php

declare(strict_types=1);

namespace TrendVault\Writer\Store;

/** When an object may be written (RFC 9110, section 13.1). */
final readonly class Condition
{
    private function __construct(public ?string $field) {}

    public static function none(): self
    {
        return new self(null);
    }

    /** Only when there is no such object. */
    public static function isNew(): self
    {
        return new self('If-None-Match: *');
    }

    /** Only when the object is still the one with this ETag. */
    public static function matches(string $etag): self
    {
        return new self("If-Match: $etag");
    }
}
