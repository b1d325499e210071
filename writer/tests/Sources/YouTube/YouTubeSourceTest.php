<?php

declare(strict_types=1);

namespace TrendVault\Writer\Tests\Sources\YouTube;

use PHPUnit\Framework\Attributes\DataProvider;
use PHPUnit\Framework\Attributes\Test;
use PHPUnit\Framework\TestCase;
use Symfony\Component\HttpClient\HttpClient;
use TrendVault\Writer\Database\Database;
use TrendVault\Writer\Sources\SourceFailure;
use TrendVault\Writer\Sources\YouTube\Api;
use TrendVault\Writer\Sources\YouTube\KnownPages;
use TrendVault\Writer\Sources\YouTube\RetryPolicy;
use TrendVault\Writer\Sources\YouTube\Schedule;
use TrendVault\Writer\Sources\YouTube\YouTubeSource;
use TrendVault\Writer\Tests\Support\FixedClock;
use TrendVault\Writer\Tests\Support\MigratedDatabase;

final class YouTubeSourceTest extends TestCase
{
    private const string KEY = 'AIza-a-key-that-nobody-may-see';

    private StubServer $server;
    private Database $database;
    private Schedule $schedule;
    private ?string $failure = null;

    protected function setUp(): void
    {
        $this->server = new StubServer();
        $this->database = MigratedDatabase::inMemory();
        $this->schedule = new Schedule($this->database, 600);
    }

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
        self::assertSame('snippet,statistics,contentDetails', $requests[0]['query']['part']);
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
                    'thumb_base' => 'https://i.ytimg.com/vi/aaa',
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
    public function a_fault_at_their_end_is_tried_again(): void
    {
        $fault = ['status' => 503, 'body' => 'oops'];
        $this->server->answer(['GB 1' => [$fault, $fault, StubServer::page(['aaa'])]]);

        self::assertSame(['aaa'], array_column($this->read(['GB']), 'id'));
        self::assertCount(3, $this->server->requests());
    }

    #[Test]
    public function a_fault_that_lasts_ends_after_four_attempts_and_the_other_regions_are_read(): void
    {
        $this->server->answer([
            'GB 1' => [['status' => 500, 'body' => 'oops']],
            'DE 1' => [StubServer::page(['ddd'])],
        ]);

        self::assertSame(['ddd'], array_column($this->read(['GB', 'DE']), 'id'));
        self::assertStringContainsString('does not answer for GB: status 500', (string) $this->failure);
        self::assertCount(RetryPolicy::ATTEMPTS + 1, $this->server->requests());
    }

    #[Test]
    public function nothing_is_tried_past_the_timeout(): void
    {
        $this->server->answer([
            'GB 1' => [
                [...StubServer::error(403, 'rateLimitExceeded'), 'headers' => ['Retry-After' => '90']],
            ],
        ]);

        self::assertSame([], $this->read(['GB']));
        self::assertCount(1, $this->server->requests());
    }

    #[Test]
    public function a_quota_that_is_used_up_is_told_apart_from_an_outage_and_ends_the_requests(): void
    {
        $this->server->answer(['*' => [StubServer::error(403, 'quotaExceeded')]]);

        self::assertSame([], $this->read(['GB', 'DE', 'FR']));
        self::assertStringContainsString('quota for today is used up', (string) $this->failure);
        self::assertCount(1, $this->server->requests());
    }

    #[Test]
    public function three_regions_in_a_row_without_an_answer_end_the_requests(): void
    {
        $this->server->answer(['*' => [['status' => 500, 'body' => 'oops']]]);

        self::assertSame([], $this->read(['GB', 'DE', 'FR', 'ES', 'IT']));
        self::assertCount(3 * RetryPolicy::ATTEMPTS, $this->server->requests());
        self::assertGreaterThan(FixedClock::NOON, $this->schedule->dueAt(FixedClock::NOON));
    }

    #[Test]
    public function a_run_begins_with_the_region_that_waited_longest(): void
    {
        $this->server->answer(['*' => [StubServer::page([])]]);
        $this->schedule->askRegion('GB', FixedClock::NOON - 60);
        $this->schedule->askRegion('DE', FixedClock::NOON - 120);
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
    public function a_page_token_that_is_refused_at_once_is_a_failure(): void
    {
        $this->server->answer([
            'GB 1' => [StubServer::page(['aaa'], next: 2)],
            'GB 2' => [StubServer::error(400, 'invalidPageToken')],
        ]);

        self::assertSame(['aaa'], array_column($this->read(['GB']), 'id'));
        self::assertStringContainsString('status 400', (string) $this->failure);
        self::assertCount(2, $this->server->requests());
    }

    #[Test]
    public function a_wait_that_is_longer_than_the_run_is_kept_by_the_next_ones(): void
    {
        $date = gmdate('D, d M Y H:i:s \G\M\T', time() + 7200);
        $this->server->answer([
            'GB 1' => [StubServer::page(['aaa'])],
            'DE 1' => [['status' => 503, 'body' => 'later', 'headers' => ['Retry-After' => $date]]],
        ]);
        $this->read(['GB', 'DE']);

        $wait = $this->schedule->dueAt(FixedClock::NOON) - FixedClock::NOON;
        self::assertGreaterThan(7100, $wait);
        self::assertLessThanOrEqual(7201, $wait);
    }

    #[Test]
    public function a_region_without_a_chart_is_no_failure(): void
    {
        $this->server->answer(['DE 1' => [StubServer::page(['ddd'])]]);

        self::assertSame(['ddd'], array_column($this->read(['IE', 'DE']), 'id'));
        self::assertNull($this->failure);
    }

    #[Test]
    #[DataProvider('failures')]
    public function the_key_is_in_no_message(array $answer, string $expected): void
    {
        $this->server->answer(['*' => [$answer]]);
        $this->read(['GB']);

        self::assertStringContainsString($expected, (string) $this->failure);
        self::assertStringNotContainsString(self::KEY, (string) $this->failure);
    }

    /** @return iterable<string, array{array<string, mixed>, string}> */
    public static function failures(): iterable
    {
        yield 'a key that is refused' => [
            StubServer::error(403, 'accessNotConfigured'),
            'refuses the key in YOUTUBE_API_KEY',
        ];
        yield 'a key that is not valid' => [
            [
                'status' => 400,
                'body' => [
                    'error' => [
                        'code' => 400,
                        'errors' => [['reason' => 'badRequest']],
                        'details' => [['reason' => 'API_KEY_INVALID']],
                    ],
                ],
            ],
            'refuses the key',
        ];
        yield 'something else' => [StubServer::error(418, 'teapot'), 'status 418'];
        yield 'no JSON' => [['status' => 200, 'body' => '<html>'], 'not the documented JSON'];
    }

    /**
     * @param list<string> $regions
     * @return list<array<string, mixed>>
     */
    private function read(array $regions): array
    {
        $this->source($regions, $lines);

        return $lines;
    }

    /**
     * @param list<string> $regions
     * @param ?list<array<string, mixed>> $lines
     */
    private function source(array $regions, ?array &$lines): void
    {
        $source = new YouTubeSource(
            new Api(
                HttpClient::create(),
                new RetryPolicy(40.0, delayMilliseconds: 1),
                self::KEY,
                $this->server->url,
            ),
            new KnownPages($this->database),
            $this->schedule,
            $regions,
            new FixedClock(),
        );
        $lines = [];
        try {
            foreach ($source->lines() as $line) {
                $lines[] = json_decode($line, true, flags: JSON_THROW_ON_ERROR);
            }
        } catch (SourceFailure $failure) {
            $this->failure = $failure->getMessage();
        }
        $source->settle(clean: true);
    }
}
