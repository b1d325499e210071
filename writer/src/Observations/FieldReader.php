<?php

declare(strict_types=1);

namespace TrendVault\Writer\Observations;

use TrendVault\Writer\Time\Rfc3339;

/** Reads the fields of a line that are not needed in every line; null for one that is absent. */
final readonly class FieldReader
{
    /** The largest integer that all JSON readers read exactly (RFC 8259, section 6). */
    private const int MAX_COUNT = 9_007_199_254_740_991;
    /** The bytes that may begin a character of FORBIDDEN: text without them needs no pattern. */
    private const string SUSPECT = "\xc2\xe2\x00\x01\x02\x03\x04\x05\x06\x07\x08\t\n\x0b\x0c\r\x0e\x0f\x10\x11\x12\x13\x14\x15\x16\x17\x18\x19\x1a\x1b\x1c\x1d\x1e\x1f\x7f";
    private const string LANGUAGE = '/^[A-Za-z]{2,8}(?:-[A-Za-z0-9]{1,8})*$/D';
    /** Controls (C0, DEL, C1), line and paragraph separators, and what changes the direction of the text around it. */
    public const string FORBIDDEN = '/[\x00-\x1f\x7f-\x{9f}\x{2028}-\x{202e}\x{2066}-\x{2069}]/u';
    /** Text that begins with one of `!` to `~` needs no such pattern. Any character but spaces, and those that are drawn as nothing (some letters and the empty braille pattern, too). */
    private const string VISIBLE = '/[^\p{Z}\p{C}\p{M}\x{115f}\x{1160}\x{2800}\x{3164}\x{ffa0}]/u';
    /** Without a user, a query or a fragment, because `/hq.webp` is added to it. */
    private const string THUMB_BASE = '~^https?://[^\x00-\x20"<>\\\\^`{|}\x7f/?#@]+(?:/[^\x00-\x20"<>\\\\^`{|}\x7f?#]*)?$~D';
    /** Of a page: with a path, a query and a fragment, without a user. */
    private const string URL = '~^https://[^\x00-\x20"<>\\\\^`{|}\x7f/?#@]+(?:[/?#][^\x00-\x20"<>\\\\^`{|}\x7f]*)?$~D';

    /** @param int $shiftSeconds what every time is moved by, for archived data */
    public function __construct(private int $shiftSeconds) {}

    /**
     * @param array<mixed> $fields
     * @throws RejectedLine
     */
    public function time(array $fields, string $name): ?int
    {
        $value = $fields[$name] ?? '';
        if ($value === '') {
            return null;
        }
        $time = is_string($value) ? Rfc3339::parse($value) : null;

        return $time === null || $time < 0
            ? throw new RejectedLine(
                RejectionReason::BadTime,
                "$name: expected an RFC 3339 time since 1970, for example 2026-11-20T10:00:00Z",
            )
            : $time + $this->shiftSeconds;
    }

    /**
     * @param array<mixed> $fields
     * @throws RejectedLine
     */
    public function count(array $fields, string $name): ?int
    {
        $value = $fields[$name] ?? '';

        return match (true) {
            is_int($value) && $value >= 0 && $value <= self::MAX_COUNT => $value,
            $value === '' => null,
            default => throw new RejectedLine(
                RejectionReason::BadCount,
                "$name: expected a whole number from 0 to " . self::MAX_COUNT,
            ),
        };
    }

    /**
     * @param array<mixed> $fields
     * @throws RejectedLine
     */
    public function text(array $fields, string $name, int $most): ?string
    {
        $value = $fields[$name] ?? null;

        return $value === null ||
            (is_string($value) &&
                self::fits($value, $most) &&
                (strcspn($value, self::SUSPECT) === strlen($value) ||
                    preg_match(self::FORBIDDEN, $value) === 0) &&
                (($value >= '!' && $value < "\x7f") || preg_match(self::VISIBLE, $value) === 1))
            ? $value
            : throw new RejectedLine(
                RejectionReason::BadText,
                "$name: expected text of 1 to $most characters, not only spaces, without control characters or such that change the direction of the text",
            );
    }

    /**
     * @param array<mixed> $fields
     * @throws RejectedLine
     */
    public function language(array $fields): ?string
    {
        $value = $fields['language'] ?? '';
        if ($value === '') {
            return null;
        }

        return is_string($value) && strlen($value) <= 35 && preg_match(self::LANGUAGE, $value) === 1
            ? $value
            : throw new RejectedLine(
                RejectionReason::BadLanguage,
                'language: expected a language tag (BCP 47), for example pt-BR',
            );
    }

    /**
     * @param array<mixed> $fields
     * @throws RejectedLine
     */
    public function thumbBase(array $fields): ?string
    {
        $value = $fields['thumb_base'] ?? null;

        return $value === null ||
            (is_string($value) &&
                self::fits($value, 500) &&
                preg_match(self::THUMB_BASE, $value) === 1 &&
                (mb_check_encoding($value, 'ASCII') || preg_match(self::FORBIDDEN, $value) === 0))
            ? $value
            : throw new RejectedLine(
                RejectionReason::BadThumbBase,
                'thumb_base: expected an http or https address of at most 500 characters without a query, a fragment or a user',
            );
    }

    /**
     * @param array<mixed> $fields
     * @throws RejectedLine
     */
    public function url(array $fields): ?string
    {
        $value = $fields['url'] ?? '';
        if ($value === '') {
            return null;
        }

        return is_string($value) &&
            self::fits($value, 2000) &&
            preg_match(self::URL, $value) === 1 &&
            preg_match(self::FORBIDDEN, $value) === 0
            ? $value
            : throw new RejectedLine(
                RejectionReason::BadUrl,
                'url: expected an https address of at most 2000 characters without a user',
            );
    }

    /** Counts characters only when the number of bytes does not answer already. */
    private static function fits(string $text, int $mostCharacters): bool
    {
        return strlen($text) <= $mostCharacters || mb_strlen($text) <= $mostCharacters;
    }
}
