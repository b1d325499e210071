<?php

declare(strict_types=1);

namespace TrendVault\Writer\Time;

/** Internet date and time (RFC 3339, section 5.6) to UTC seconds and back. Fractions of a second are cut off. */
final class Rfc3339
{
    private const string PATTERN = '/^(\d{4})-(\d\d)-(\d\d)[Tt ](\d\d):(\d\d):(\d\d)(?:\.\d+)?(?:[Zz]|([+-])(\d\d):(\d\d))$/D';
    private const int DAYS_KEPT = 1000;

    /** @var array<string, int> midnight by date: a file repeats few dates, and gmmktime is the slow part */
    private static array $midnights = [];

    /** Null when it is not such a time, or names a day, an hour or an offset that does not exist. */
    public static function parse(string $text): ?int
    {
        if (
            preg_match(self::PATTERN, $text, $part) !== 1 ||
            !checkdate((int) $part[2], (int) $part[3], (int) $part[1])
        ) {
            return null;
        }
        [$hours, $minutes, $seconds] = [(int) $part[4], (int) $part[5], (int) $part[6]];
        [$offsetHours, $offsetMinutes] = [(int) ($part[8] ?? 0), (int) ($part[9] ?? 0)];
        // Second 60 is a leap second, which Unix time counts as the first of the next minute.
        if ($hours > 23 || $minutes > 59 || $seconds > 60 || $offsetHours > 23 || $offsetMinutes > 59) {
            return null;
        }
        $offset = ($offsetHours * 3600 + $offsetMinutes * 60) * (($part[7] ?? '') === '-' ? -1 : 1);

        return self::midnight(substr($text, 0, 10), $part) +
            $hours * 3600 +
            $minutes * 60 +
            $seconds -
            $offset;
    }

    public static function format(int $time): string
    {
        return gmdate('Y-m-d\TH:i:s\Z', $time);
    }

    /** @param list<string> $part */
    private static function midnight(string $date, array $part): int
    {
        if (count(self::$midnights) >= self::DAYS_KEPT) {
            self::$midnights = [];
        }

        return self::$midnights[$date] ??= (int) gmmktime(
            0,
            0,
            0,
            (int) $part[2],
            (int) $part[3],
            (int) $part[1],
        );
    }
}
