<?php

declare(strict_types=1);

namespace TrendVault\Writer\Tests\Support;

use TrendVault\Writer\Time\Rfc3339;

/** Makes lines of NDJSON; what a test does not care about is filled in. */
final class NdjsonLine
{
    /** @param array<string, mixed> $fields what differs; null leaves a field out */
    public static function of(array $fields = []): string
    {
        $line = [
            'id' => 'video-1',
            'region' => 'GB',
            'observed_at' => Rfc3339::format(FixedClock::NOON),
            'views' => 1000,
            'title' => 'A title',
            'channel' => 'A channel',
            'thumb_base' => 'https://thumbs.example/video-1',
            ...$fields,
        ];

        return json_encode(
            array_filter($line, static fn(mixed $value): bool => $value !== null),
            JSON_UNESCAPED_UNICODE | JSON_THROW_ON_ERROR,
        );
    }

    /** @param list<array<string, mixed>> $lines */
    public static function many(array $lines): string
    {
        return implode('', array_map(static fn(array $fields): string => self::of($fields) . "\n", $lines));
    }

    /** An RFC 3339 time so many seconds before the system's now. */
    public static function ago(int $seconds): string
    {
        return Rfc3339::format(time() - $seconds);
    }
}
