<?php

declare(strict_types=1);

namespace TrendVault\Writer\Time;

/**
 * Internet date and time (RFC 3339, section 5.6) to UTC seconds and back. Fractions of a second are cut off.
 * A file repeats few hours and few minutes and seconds, so both parts of a time are looked up before they are parsed.
 */
final class Rfc3339
{
    private const string UP_TO_HOUR = '/^(\d{4})-(\d\d)-(\d\d)[Tt ](\d\d):$/D';
    private const string AFTER_HOUR = '/^(\d\d):(\d\d)(?:\.\d+)?(?:[Zz]|([+-])(\d\d):(\d\d))$/D';
    private const int UP_TO_HOUR_BYTES = 14;
    private const int HOURS_KEPT = 1000;
    /** Only short ends are kept, as 50:10Z: there are few of them. */
    private const int KEPT_END_BYTES = 6;

    /** @var array<string, int> UTC seconds by the text up to the hour */
    private static array $hours = [];
    /** @var array<string, int> seconds by the text after the hour */
    private static array $ends = [];

    /** Null when it is not such a time, or names a day, an hour or an offset that does not exist. */
    public static function parse(string $text): ?int
    {
        $start = substr($text, 0, self::UP_TO_HOUR_BYTES);
        $end = substr($text, self::UP_TO_HOUR_BYTES);
        $hour = self::$hours[$start] ?? self::hour($start);
        $seconds = self::$ends[$end] ?? self::secondsAfterHour($end);

        return $hour === null || $seconds === null ? null : $hour + $seconds;
    }

    public static function format(int $time): string
    {
        return gmdate('Y-m-d\TH:i:s\Z', $time);
    }

    private static function hour(string $text): ?int
    {
        if (
            preg_match(self::UP_TO_HOUR, $text, $part) !== 1 ||
            !checkdate((int) $part[2], (int) $part[3], (int) $part[1]) ||
            (int) $part[4] > 23
        ) {
            return null;
        }
        if (count(self::$hours) >= self::HOURS_KEPT) {
            self::$hours = [];
        }
        $midnight = (int) gmmktime(0, 0, 0, (int) $part[2], (int) $part[3], (int) $part[1]);

        return self::$hours[$text] = $midnight + (int) $part[4] * 3600;
    }

    /** @return ?int negative when the offset is ahead of UTC */
    private static function secondsAfterHour(string $text): ?int
    {
        if (preg_match(self::AFTER_HOUR, $text, $part) !== 1) {
            return null;
        }
        [$minutes, $seconds] = [(int) $part[1], (int) $part[2]];
        [$offsetHours, $offsetMinutes] = [(int) ($part[4] ?? 0), (int) ($part[5] ?? 0)];
        // Second 60 is a leap second, which Unix time counts as the first of the next minute.
        if ($minutes > 59 || $seconds > 60 || $offsetHours > 23 || $offsetMinutes > 59) {
            return null;
        }
        $offset = ($offsetHours * 3600 + $offsetMinutes * 60) * (($part[3] ?? '') === '-' ? -1 : 1);
        $result = $minutes * 60 + $seconds - $offset;

        return strlen($text) === self::KEPT_END_BYTES ? (self::$ends[$text] = $result) : $result;
    }

    /**
     * @param array<string, mixed> $row
     * @return array<string, mixed> with what is named `_at` as RFC 3339
     */
    public static function inRow(array $row): array
    {
        foreach (array_filter($row, is_int(...)) as $name => $value) {
            $row[$name] = str_ends_with($name, '_at') ? self::format($value) : $value;
        }

        return $row;
    }
}
