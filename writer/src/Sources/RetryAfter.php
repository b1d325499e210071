<?php

declare(strict_types=1);

namespace TrendVault\Writer\Sources;

/** What a server asks for before the next request (RFC 9110, 10.2.3). */
final readonly class RetryAfter
{
    private const int MOST_SECONDS = 86_400;

    /**
     * Seconds, also where it names a date; at most a day; 0 when it does not ask.
     *
     * @param array<string, list<string>> $headers
     */
    public static function seconds(array $headers): int
    {
        $value = $headers['retry-after'][0] ?? '0';
        $seconds = is_numeric($value) ? (float) $value : (float) strtotime($value) - time();

        return (int) ceil(max(0.0, min($seconds, self::MOST_SECONDS)));
    }
}
