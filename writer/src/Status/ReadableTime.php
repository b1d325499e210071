<?php

declare(strict_types=1);

namespace TrendVault\Writer\Status;

use TrendVault\Writer\Time\Rfc3339;

/** Times and ages as people and monitors read them. */
final readonly class ReadableTime
{
    /** In the largest unit of which there are at least two. */
    public static function age(int $seconds): string
    {
        return match (true) {
            $seconds < 120 => "$seconds s",
            $seconds < 7200 => intdiv($seconds, 60) . ' min',
            $seconds < 172_800 => intdiv($seconds, 3600) . ' h',
            default => intdiv($seconds, 86_400) . ' days',
        };
    }

    /**
     * @param array<string, mixed> $row
     * @return array<string, mixed> with what is named `_at` as RFC 3339
     */
    public static function inRow(array $row): array
    {
        foreach ($row as $name => $value) {
            $row[$name] = str_ends_with($name, '_at') && $value !== null ? Rfc3339::format($value) : $value;
        }

        return $row;
    }
}
