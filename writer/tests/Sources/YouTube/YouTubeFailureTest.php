<?php

declare(strict_types=1);

namespace TrendVault\Writer\Tests\Sources\YouTube;

use PHPUnit\Framework\Attributes\DataProvider;
use PHPUnit\Framework\Attributes\Test;
use TrendVault\Writer\Sources\YouTube\QuotaRecord;
use TrendVault\Writer\Sources\YouTube\RetryPolicy;
use TrendVault\Writer\Tests\Support\FixedClock;

final class YouTubeFailureTest extends YouTubeTestCase
{
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
        self::assertSame(
            ['charts' => RetryPolicy::ATTEMPTS + 1, 'views' => 0],
            QuotaRecord::today($this->database, FixedClock::NOON),
        );
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
}
