<?php

declare(strict_types=1);

namespace TrendVault\Writer\Tests\Observations;

use PHPUnit\Framework\Attributes\DataProvider;
use PHPUnit\Framework\Attributes\Test;
use PHPUnit\Framework\TestCase;
use TrendVault\Writer\Observations\ObservationParser;
use TrendVault\Writer\Tests\Support\FixedClock;
use TrendVault\Writer\Tests\Support\NdjsonLine;
use TrendVault\Writer\Tests\Support\OpenApi;
use TrendVault\Writer\Time\Rfc3339;

final class ObservationParserTest extends TestCase
{
    #[Test]
    public function every_field_is_read(): void
    {
        $observation = self::parser()->parse(
            NdjsonLine::of([
                'likes' => 5,
                'comments' => 0,
                'category' => 'Music',
                'language' => 'pt-BR',
                'published_at' => '2025-11-19T12:00:00Z',
                'duration_seconds' => 63,
                'url' => 'https://videos.example/watch?v=video-1',
                'tags' => ['a', 'b/ü', 'a'],
                'licence' => ['no text'],
                'titles' => ['de' => 'Ein Titel', 'fr' => null],
                'pictures' => [['url' => 'https://a/ü', 'width' => 320, 'height' => 180, 'size' => 's']],
                'mature' => false,
                'available_from' => '2025-11-20T12:00:00Z',
                'countries' => ['allowed' => ['DE', 'AT', 'DE']],
                'unset' => ['url', 'category', 'url', 'available_until'],
                'unknown' => ['is' => 'ignored'],
            ]),
        );

        self::assertSame(
            [
                'video-1',
                'GB',
                FixedClock::NOON,
                1000,
                5,
                0,
                'A title',
                'A channel',
                'https://thumbs.example/video-1',
                'Music',
                'pt-BR',
                FixedClock::NOON - 86_400,
                63,
                'https://videos.example/watch?v=video-1',
                ['category', 'url', 'available_until'],
                [
                    'mature' => false,
                    'available_from' => FixedClock::NOON,
                    'countries' => ['allowed' => ['DE', 'AT']],
                ],
                [
                    'tags' => '["a","b/ü"]',
                    'licence' => null,
                    'titles' => '{"de":"Ein Titel"}',
                    'pictures' => '[{"url":"https://a/ü","width":320,"height":180}]',
                ],
            ],
            array_values(
                array_filter((array) $observation, static fn(mixed $value): bool => $value !== null),
            ),
        );
    }

    #[Test]
    public function the_pattern_of_a_video_id_is_that_of_the_api(): void
    {
        $pattern = OpenApi::parameter('/api/videos/{id}', 'id')['pattern'];

        self::assertSame("/$pattern/D", ObservationParser::ID);
    }

    #[Test]
    #[DataProvider('goodFields')]
    public function a_value_at_the_edge_of_what_is_allowed_is_taken(array $fields): void
    {
        self::parser()->parse(NdjsonLine::of($fields));
        $this->addToAssertionCount(1);
    }

    /** @return iterable<string, array{array<string, mixed>}> */
    public static function goodFields(): iterable
    {
        yield 'an id that starts with a dash' => [['id' => '-abc_DEF123']];
        yield 'an id of digits' => [['id' => '12345678901']];
        yield 'the longest id' => [['id' => str_repeat('a', 64)]];
        yield 'no views yet' => [['views' => 0]];
        yield 'the most views' => [['views' => 9_007_199_254_740_991]];
        yield 'the longest title, of four bytes each' => [['title' => str_repeat('🎬', 300)]];
        yield 'optional fields that are null' => [['category' => null, 'likes' => null]];
        foreach (
            [
                'category',
                'language',
                'published_at',
                'duration_seconds',
                'likes',
                'comments',
                'url',
                'tags',
                'licence',
                'titles',
                'pictures',
            ]
            as $field
        ) {
            yield "an empty $field" => [[$field => '']];
        }
        foreach (
            [
                'עברית ‏(מימין)',
                'שלום‎',
                'a‍b',
                "👨‍👩‍👧 🏴\u{e0067}\u{e0062}\u{e007f}",
                ' x',
                "\u{a0}Été",
                'ー',
                '.',
            ]
            as $title
        ) {
            yield "the title $title" => [['title' => $title]];
        }
        foreach (
            ['https://a', 'https://a/', 'http://[::1]:80/ü/%20', 'https://a/b@c:d;e=f', 'https://a:065535/']
            as $base
        ) {
            yield "the thumb base $base" => [['thumb_base' => $base]];
        }
        foreach (
            ['https://a', 'https://a/ü?v=%20&w#t', 'https://a?b@c', 'https://a/' . str_repeat('b', 1990)]
            as $url
        ) {
            yield "the URL $url" => [['url' => $url]];
        }
        yield 'five minutes ahead' => [['observed_at' => Rfc3339::format(FixedClock::NOON + 300)]];
        yield 'published after it was observed' => [
            ['published_at' => Rfc3339::format(FixedClock::NOON + 86_400)],
        ];
        yield 'an address without TLS' => [['thumb_base' => 'http://thumbs.example/a']];
    }

    #[Test]
    public function archived_times_are_moved_together(): void
    {
        $observation = new ObservationParser(['GB' => true], FixedClock::NOON, shiftSeconds: 3600)->parse(
            NdjsonLine::of([
                'observed_at' => '2025-11-20T11:00:00Z',
                'published_at' => '2025-11-20T10:00:00Z',
            ]),
        );

        self::assertSame(FixedClock::NOON, $observation->observedAt);
        self::assertSame(FixedClock::NOON - 3600, $observation->publishedAt);
    }

    #[Test]
    public function the_example_line_of_the_documentation_is_accepted_with_every_field(): void
    {
        $documentation = file_get_contents(dirname(__DIR__, 3) . '/docs/observations.md');
        self::assertSame(1, preg_match('/^```json\n(.+)\n```$/m', $documentation, $match));
        $parser = new ObservationParser(['DE' => true], strtotime('2026-11-20T10:00:00Z'));

        $observation = $parser->parse($match[1]);

        self::assertSame('GJ5N-98zdlw', $observation->videoId);
        $optional = ['likes', 'comments'];
        foreach (array_diff_key(get_object_vars($observation), array_flip($optional)) as $name => $value) {
            self::assertNotNull($value, $name);
        }
    }

    #[Test]
    public function the_example_line_of_a_catalogue_is_accepted_with_every_field(): void
    {
        $documentation = file_get_contents(dirname(__DIR__, 3) . '/docs/observations.md');
        preg_match_all('/^```json\n(.+)\n```$/m', $documentation, $matches);
        $parser = new ObservationParser(['GB' => true, 'IE' => true], strtotime('2026-11-20T10:00:00Z'));

        $announcement = $parser->parse($matches[1][1]);

        self::assertSame(['kT9-2hLw0aQ', ['GB', 'IE']], [$announcement->videoId, $announcement->regions]);
        foreach ($announcement->description as $name => $value) {
            self::assertNotNull($value, $name);
        }
    }

    private static function parser(): ObservationParser
    {
        return new ObservationParser(['DE' => true, 'FR' => true, 'GB' => true], FixedClock::NOON);
    }
}
