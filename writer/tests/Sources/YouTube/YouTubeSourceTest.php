<?php

declare(strict_types=1);

namespace TrendVault\Writer\Tests\Sources\YouTube;

use PHPUnit\Framework\Attributes\Test;
use TrendVault\Writer\Tests\Support\FixedClock;

final class YouTubeSourceTest extends YouTubeTestCase
{
    #[Test]
    public function every_region_is_read_page_by_page_with_small_parts_and_the_key_in_a_header(): void
    {
        $this->server->answer([
            'GB 1' => [StubServer::page(['aaa', 'bbb'], next: 2)],
            'GB 2' => [StubServer::page(['ccc'])],
            'DE 1' => [StubServer::page(['ddd'])],
        ]);
        $lines = $this->read(['GB', 'DE']);

        self::assertSame(
            [['aaa', 'GB'], ['bbb', 'GB'], ['ccc', 'GB'], ['ddd', 'DE']],
            array_map(static fn(array $line): array => [$line['id'], $line['region']], $lines),
        );
        self::assertNull($this->failure);
        $requests = $this->server->requests();
        self::assertCount(3, $requests);
        self::assertSame(
            'snippet,statistics,contentDetails,status,localizations',
            $requests[0]['query']['part'],
        );
        self::assertSame('mostPopular', $requests[0]['query']['chart']);
        self::assertArrayNotHasKey('key', $requests[0]['query']);
        self::assertSame(self::KEY, $requests[0]['api_key']);
    }

    #[Test]
    public function an_item_becomes_a_line_in_our_format(): void
    {
        $this->server->answer(['GB 1' => [StubServer::page(['aaa'])]]);

        self::assertSame(
            [
                [
                    'id' => 'aaa',
                    'region' => 'GB',
                    'observed_at' => '2025-11-20T12:00:00Z',
                    'views' => 123456,
                    'likes' => 789,
                    'title' => 'Title of aaa',
                    'channel' => 'Channel of aaa',
                    'category' => 'Music',
                    'language' => 'en-GB',
                    'published_at' => '2025-11-19T08:00:00Z',
                    'duration_seconds' => 3853,
                    'tags' => ['a tag', 'line break'],
                    'licence' => 'CC BY',
                    'titles' => ['de' => 'Titel von aaa'],
                    'mature' => false,
                    'countries' => ['excluded' => []],
                    'thumb_base' => 'https://i.ytimg.com/vi/aaa/hqdefault.jpg',
                ],
            ],
            $this->read(['GB']),
        );
    }

    #[Test]
    public function a_page_that_has_not_changed_gives_no_lines_and_its_next_page_is_requested_anyway(): void
    {
        $this->server->answer([
            'GB 1' => [StubServer::page(['aaa'], next: 2, etag: '"one"')],
            'GB 2' => [StubServer::page(['bbb']), StubServer::page(['ccc'])],
        ]);
        $this->read(['GB']);
        $lines = $this->read(['GB']);

        self::assertSame(['ccc'], array_column($lines, 'id'));
        self::assertSame('"one"', $this->server->requests()[2]['if_none_match']);
        self::assertNull($this->server->requests()[0]['if_none_match']);
    }

    #[Test]
    public function a_run_begins_with_the_region_that_waited_longest(): void
    {
        $this->server->answer(['*' => [StubServer::page([])]]);
        $this->charts->ask('GB', FixedClock::NOON - 60);
        $this->charts->ask('DE', FixedClock::NOON - 120);
        $this->read(['GB', 'DE', 'FR']);

        self::assertSame(['FR 1', 'DE 1', 'GB 1'], array_column($this->server->requests(), 'key'));
    }

    #[Test]
    public function a_page_token_that_has_expired_makes_the_chart_be_read_from_its_start(): void
    {
        $expired = StubServer::error(400, 'invalidPageToken');
        $this->server->answer([
            'GB 1' => [StubServer::page(['aaa'], next: 2, etag: '"one"')],
            'GB 2' => [StubServer::page(['bbb']), $expired, StubServer::page(['ccc'])],
        ]);
        $this->read(['GB']);
        $lines = $this->read(['GB']);

        self::assertNull($this->failure);
        self::assertSame(['aaa', 'ccc'], array_column($lines, 'id'));
        self::assertSame([], $this->read(['GB']));
        self::assertNull($this->failure);
    }

    #[Test]
    public function a_region_without_a_chart_is_no_failure(): void
    {
        $this->server->answer(['DE 1' => [StubServer::page(['ddd'])]]);

        self::assertSame(['ddd'], array_column($this->read(['IE', 'DE']), 'id'));
        self::assertNull($this->failure);
    }
}
