<?php

declare(strict_types=1);

namespace TrendVault\Writer\Tests\Observations;

use PHPUnit\Framework\Attributes\DataProvider;
use PHPUnit\Framework\Attributes\Test;
use PHPUnit\Framework\TestCase;
use TrendVault\Writer\Observations\ObservationParser;
use TrendVault\Writer\Observations\RejectedLine;
use TrendVault\Writer\Observations\RejectionReason;
use TrendVault\Writer\Tests\Support\FixedClock;
use TrendVault\Writer\Tests\Support\NdjsonLine;
use TrendVault\Writer\Time\Rfc3339;

final class RejectedLineTest extends TestCase
{
    #[Test]
    #[DataProvider('badLines')]
    public function a_line_that_cannot_be_stored_has_its_reason(
        string $line,
        RejectionReason $reason,
        string $expected,
    ): void {
        try {
            self::parser()->parse($line);
            self::fail('the line was taken');
        } catch (RejectedLine $rejected) {
            self::assertSame($reason, $rejected->reason);
            self::assertStringContainsString($expected, $rejected->getMessage());
        }
    }

    /** @return iterable<string, array{string, RejectionReason, string}> */
    public static function badLines(): iterable
    {
        yield 'broken JSON' => ['{"id": ', RejectionReason::NotJson, 'expected JSON'];
        yield 'only spaces' => ['   ', RejectionReason::NotJson, 'expected JSON'];
        yield 'nested without end' => [str_repeat('[', 1000), RejectionReason::NotJson, 'expected JSON'];
        yield 'invalid UTF-8' => ["{\"id\": \"\xc3\x28\"}", RejectionReason::NotUtf8, 'expected UTF-8'];
        yield 'half a surrogate pair' => ['{"id": "\ud800"}', RejectionReason::NotJson, 'expected JSON'];
        yield 'a list' => ['[1]', RejectionReason::NotAnObject, 'one JSON object'];
        yield 'a number' => ['1', RejectionReason::NotAnObject, 'one JSON object'];
        foreach (['id', 'region', 'observed_at', 'views'] as $field) {
            yield "no $field" => [
                NdjsonLine::of([$field => null]),
                RejectionReason::MissingField,
                "$field: expected",
            ];
        }
        foreach (['', 'a b', '.a', str_repeat('a', 65), "a\n", 'ä', 'a/b', 7] as $id) {
            yield 'the id ' . json_encode($id) => [
                NdjsonLine::of(['id' => $id]),
                RejectionReason::BadId,
                'id: expected 1 to 64',
            ];
        }
        foreach (['XX', 'gb', 'GBR', 7] as $region) {
            yield 'the region ' . json_encode($region) => [
                NdjsonLine::of(['region' => $region]),
                RejectionReason::UnknownRegion,
                'DE, FR, GB',
            ];
        }
        foreach (
            ['2025-02-30T00:00:00Z', 'now', '2025-11-20', 1_763_640_000, '1969-12-31T23:59:59Z']
            as $time
        ) {
            yield 'the time ' . json_encode($time) => [
                NdjsonLine::of(['observed_at' => $time]),
                RejectionReason::BadTime,
                'observed_at: expected an RFC 3339 time',
            ];
        }
        yield 'a second too far ahead' => [
            NdjsonLine::of(['observed_at' => Rfc3339::format(FixedClock::NOON + 301)]),
            RejectionReason::InTheFuture,
            'at most 5 minutes after now',
        ];
        foreach ([-1, 1.5, '100', true, 9_007_199_254_740_992, [1]] as $views) {
            yield 'the views ' . json_encode($views) => [
                NdjsonLine::of(['views' => $views]),
                RejectionReason::BadCount,
                'views: expected a whole number',
            ];
        }
        yield 'negative likes' => [NdjsonLine::of(['likes' => -1]), RejectionReason::BadCount, 'likes'];
        yield 'a negative duration' => [
            NdjsonLine::of(['duration_seconds' => -1]),
            RejectionReason::BadCount,
            'duration_seconds',
        ];
        $titles = [
            [
                '',
                str_repeat('a', 301),
                "tab\there",
                "a\0b",
                ['x'],
                ' ',
                "\u{a0}\u{3000}",
                "\u{200b}\u{feff}",
                "\u{3164}",
            ],
            [
                "a\u{80}",
                "a\u{85}b",
                "a\u{9f}",
                "a\u{2028}b",
                "a\u{2029}",
                "\u{202e}gpj.exe",
                "\u{202a}a",
                "a\u{2066}b\u{2069}",
            ],
        ];
        foreach (array_merge(...$titles) as $title) {
            yield 'the title ' . substr((string) json_encode($title), 0, 20) => [
                NdjsonLine::of(['title' => $title]),
                RejectionReason::BadText,
                'title: expected text of 1 to 300 characters',
            ];
        }
        yield 'a long channel' => [
            NdjsonLine::of(['channel' => str_repeat('é', 201)]),
            RejectionReason::BadText,
            'channel',
        ];
        yield 'a category that is called like the list of a language' => [
            NdjsonLine::of(['category' => '#language:de']),
            RejectionReason::BadText,
            'category',
        ];
        yield 'a category of spaces' => [
            NdjsonLine::of(['category' => '  ']),
            RejectionReason::BadText,
            'category',
        ];
        foreach (['english please', 'e', str_repeat('en-', 12) . 'gb'] as $language) {
            yield "the language $language" => [
                NdjsonLine::of(['language' => $language]),
                RejectionReason::BadLanguage,
                'BCP 47',
            ];
        }
        foreach (
            [
                'thumbs.example/a',
                'ftp://a/b',
                'https://',
                'https://a b',
                'javascript:alert(1)',
                'https://a/b?c',
                'https://a?b',
                'https://a/b#c',
                'https://user:pw@a/b',
                'https:///a',
                'https://a:65536/b',
                'https://a:b/',
                'https://[::1/',
                "https://a/\u{202e}b",
                'https://a/"onload=',
                'https://' . str_repeat('a', 500),
            ]
            as $base
        ) {
            yield 'the thumb base ' . substr($base, 0, 20) => [
                NdjsonLine::of(['thumb_base' => $base]),
                RejectionReason::BadThumbBase,
                'http or https address',
            ];
        }
        foreach (
            [
                'http://a/b',
                'https://',
                'https://u@a/',
                'https://a:99999',
                'https://a:443:443/',
                'javascript:alert(1)',
                'https://a/' . str_repeat('b', 1991),
                7,
            ]
            as $url
        ) {
            yield "the url $url" => [
                NdjsonLine::of(['url' => $url]),
                RejectionReason::BadUrl,
                'https address of at most 2000 characters without a user',
            ];
        }
    }

    private static function parser(): ObservationParser
    {
        return new ObservationParser(['DE' => true, 'FR' => true, 'GB' => true], FixedClock::NOON);
    }
}
