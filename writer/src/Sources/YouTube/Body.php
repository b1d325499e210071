<?php

declare(strict_types=1);

namespace TrendVault\Writer\Sources\YouTube;

/** The body of an answer. The client's own unpacking has no bound: an answer of a few kilobytes used up all memory. */
final readonly class Body
{
    public const int MOST_BYTES = 1024 * 1024;

    private const string GZIP = "\x1f\x8b";

    /** @return string '' when it is damaged gzip, or of more than MOST_BYTES */
    public static function unpacked(string $received): string
    {
        return str_starts_with($received, self::GZIP)
            ? (string) @gzdecode($received, self::MOST_BYTES)
            : $received;
    }
}
