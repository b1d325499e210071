<?php

declare(strict_types=1);

namespace TrendVault\Writer\Tests\Sources\YouTube;

use PHPUnit\Framework\Attributes\Test;
use TrendVault\Writer\Observations\ObservationParser;
use TrendVault\Writer\Sources\YouTube\Video;
use TrendVault\Writer\Tests\Sources\PlatformVideoTestCase;
use TrendVault\Writer\Tests\Support\FixedClock;

final class VideoTest extends PlatformVideoTestCase
{
    #[Test]
    public function an_item_of_any_shape_becomes_a_line(): void
    {
        foreach (self::changed(StubServer::page(['aaa'])['body']['items'][0]) as $item) {
            self::expectLine(Video::line($item, 'GB', FixedClock::NOON), 'GB');
        }
    }

    #[Test]
    public function depth_does_not_matter(): void
    {
        $deep = json_decode(str_repeat('[', 500) . str_repeat(']', 500), true);

        self::expectLine(Video::line(['id' => $deep, 'snippet' => ['title' => $deep]], 'GB', 0), 'GB');
    }

    #[Test]
    public function tags_that_are_too_many_or_too_long_are_cut_such_that_the_rest_is_taken(): void
    {
        $item = StubServer::page(['aaa'])['body']['items'][0];
        $item['snippet']['tags'] = [' ', 7, str_repeat('é', 101), ...array_map(strval(...), range(1, 40))];
        $details = new ObservationParser(['GB' => true], FixedClock::NOON)->parse(
            Video::line($item, 'GB', FixedClock::NOON),
        )->details;

        $tags = json_decode((string) $details['tags'], true);
        self::assertSame([30, str_repeat('é', 100), '29'], [count($tags), $tags[0], $tags[29]]);
    }

    #[Test]
    public function titles_of_other_languages_are_taken_but_for_what_is_none_and_cut_where_they_are_too_long(): void
    {
        $item = StubServer::page(['aaa'])['body']['items'][0];
        $title = static fn(mixed $text): array => ['title' => $text];
        $item['localizations'] = [
            ...['de' => $title('Ein Titel'), 'es-419' => $title(str_repeat('é', 301)), 'fr' => $title(' ')],
            ...[
                'a language' => $title('A title'),
                'pl' => 'Tytuł',
                'cs' => $title("\u{200b}"),
                'it' => $title(7),
                'nl' => [],
            ],
            7 => $title('Seven'),
        ];
        $line = Video::line($item, 'GB', FixedClock::NOON);
        $details = new ObservationParser(['GB' => true], FixedClock::NOON)->parse($line)->details;

        self::assertSame(
            ['de' => 'Ein Titel', 'es-419' => str_repeat('é', 300)],
            json_decode((string) $details['titles'], true),
        );
        foreach ([[], 'none', ['de' => $title('')], null] as $none) {
            $line = Video::line(['localizations' => $none] + $item, 'GB', FixedClock::NOON);
            self::assertArrayNotHasKey('titles', json_decode($line, true));
        }
    }

    #[Test]
    public function pictures_of_its_host_are_taken_with_their_sizes(): void
    {
        $item = StubServer::page(['aaa'])['body']['items'][0];
        $of = static fn(mixed $thumbnails): ?array => json_decode(
            Video::line(
                ['snippet' => ['thumbnails' => $thumbnails] + $item['snippet']] + $item,
                'GB',
                FixedClock::NOON,
            ),
            true,
        )['pictures'] ?? null;
        $medium = ['url' => 'https://i.ytimg.com/vi/aaa/mqdefault.jpg', 'width' => 320, 'height' => 180];

        self::assertSame(
            [$medium],
            $of([
                'default' => ['url' => 'https://i.ytimg.com/vi/aaa/default.jpg'],
                'medium' => $medium,
                'high' => ['url' => 'https://other.example/hqdefault.jpg'] + $medium,
                'standard' => 'sddefault.jpg',
                'maxres' => ['width' => 0] + $medium,
            ]),
        );
        self::assertSame([null, null, null], [$of([]), $of('none'), $of(['medium' => null])]);
    }

    #[Test]
    public function what_is_on_air_or_upcoming_is_said(): void
    {
        $item = StubServer::page(['aaa'])['body']['items'][0];
        $pairs = ['live' => 'now', 'upcoming' => 'scheduled', 'none' => false, 'another' => null];
        foreach ($pairs as $theirs => $ours) {
            $item['snippet']['liveBroadcastContent'] = $theirs;
            $line = json_decode(Video::line($item, 'GB', FixedClock::NOON), true);
            self::assertSame($ours, $line['live'] ?? null);
        }
    }

    #[Test]
    public function that_it_is_made_for_kids_is_said_as_YouTube_says_it(): void
    {
        $item = StubServer::page(['aaa'])['body']['items'][0];
        $parser = new ObservationParser(['GB' => true], FixedClock::NOON);
        $said = [];
        foreach ([[true], [false], ['yes'], [1.5], [null], []] as $value) {
            $item['status'] = $value === [] ? [] : ['madeForKids' => $value[0]];
            $line = $parser->parse(Video::line($item, 'GB', FixedClock::NOON));
            $said[] = array_intersect_key($line->restrictions ?? [], ['made_for_kids' => true]);
        }
        $bad = ['made_for_kids' => null];
        self::assertSame([['made_for_kids' => true], ['made_for_kids' => false], $bad, $bad, [], []], $said);
    }

    #[Test]
    public function where_it_may_be_played_and_by_whom_is_said_and_what_cannot_be_read_holds_it_back(): void
    {
        $item = StubServer::page(['aaa'])['body']['items'][0];
        foreach (
            [
                [['allowed' => ['DE', 'AT']], ['allowed' => ['DE', 'AT']]],
                [['blocked' => ['DE']], ['excluded' => ['DE']]],
                [['blocked' => 'DE'], null],
                [['blocked' => [5]], null],
                ['DE', null],
                [[], false],
            ]
            as [$theirs, $ours]
        ) {
            $item['contentDetails'] = [
                'regionRestriction' => $theirs,
                'contentRating' => ['ytRating' => 'ytAgeRestricted'],
            ];
            $line = new ObservationParser(['GB' => true], FixedClock::NOON)->parse(
                Video::line($item, 'GB', FixedClock::NOON),
            );
            self::assertSame(['mature' => true, 'countries' => $ours], $line->restrictions ?? null);
        }
    }
}
