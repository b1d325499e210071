<?php

declare(strict_types=1);

namespace TrendVault\Writer\Tests\Sources\YouTube;

use DateTimeImmutable;
use DateTimeZone;
use PHPUnit\Framework\Attributes\Test;
use PHPUnit\Framework\TestCase;
use Symfony\Component\HttpClient\HttpClient;
use Symfony\Component\HttpClient\MockHttpClient;
use Symfony\Component\HttpClient\Response\MockResponse;
use Symfony\Component\HttpClient\RetryableHttpClient;
use Symfony\Contracts\HttpClient\HttpClientInterface;
use TrendVault\Writer\Sources\Transfer;
use TrendVault\Writer\Sources\YouTube\Api;
use TrendVault\Writer\Sources\YouTube\ApiFailure;
use TrendVault\Writer\Sources\YouTube\QuotaRecord;
use TrendVault\Writer\Sources\YouTube\RetryPolicy;
use TrendVault\Writer\Tests\Support\Draws;
use TrendVault\Writer\Tests\Support\FixedClock;
use TrendVault\Writer\Tests\Support\MigratedDatabase;

final class ApiTest extends TestCase
{
    private const string RATE_LIMIT = '{"error":{"errors":[{"reason":"rateLimitExceeded"}]}}';
    private const int JANUARY = 1_767_225_600;
    private const int TEN_YEARS = 10 * 366 * 86_400;

    /** @var list<float> seconds */
    private array $delays = [];

    #[Test]
    public function no_connection_is_an_outage(): void
    {
        self::assertSame(
            'YouTube does not answer for GB: Failed to connect to 127.0.0.1 port 9',
            substr($this->failure('http://127.0.0.1:9/youtube/v3/videos'), 0, 69),
        );
        self::assertStringEndsWith(
            ', attempt ' . RetryPolicy::ATTEMPTS . '.',
            $this->failure('http://127.0.0.1:9/youtube/v3/videos'),
        );
    }

    /** An empty chunk of a mock is an idle timeout, without the wait. */
    #[Test]
    public function a_server_that_does_not_answer_is_given_up_at_the_timeout(): void
    {
        $options = [];
        $silent = new MockHttpClient(static function (string $method, string $url, array $given) use (
            &$options,
        ): MockResponse {
            $options[] = $given;

            return new MockResponse(['']);
        });

        self::assertMatchesRegularExpression(
            '/^YouTube does not answer for GB: Idle timeout reached, attempt \d\.$/',
            $this->failure('http://videos.example/', timeoutSeconds: 5.0, client: $silent),
        );
        self::assertNotSame([], $options);
        foreach ($options as ['timeout' => $idle, 'max_duration' => $whole]) {
            self::assertLessThanOrEqual(5.0, max($idle, $whole));
        }
    }

    #[Test]
    public function an_answer_that_is_far_too_large_is_not_read_to_its_end(): void
    {
        $server = new StubServer();
        $server->answer(['GB 1' => [['body' => str_repeat('x', 9 * 1024 * 1024)]]]);

        self::assertStringContainsString('larger than 4194304 bytes', $this->failure($server->url));
    }

    #[Test]
    public function a_redirect_is_not_followed_because_the_key_would_go_with_it(): void
    {
        [$server, $other] = [new StubServer(), new StubServer()];
        $server->answer(['*' => [['status' => 302, 'headers' => ['Location' => $other->url], 'body' => '']]]);

        self::assertStringContainsString('status 302', $this->failure($server->url));
        self::assertSame([], $other->requests());
    }

    #[Test]
    public function delays_are_random_and_double(): void
    {
        for ($run = 0; $run < 50; $run++) {
            $this->delays = [];
            self::assertSame(
                200,
                $this->request([$this->answer(503), $this->answer(500), $this->answer(200)]),
            );
            self::assertCount(2, $this->delays);
            $first[] = $this->delays[0];
            $second[] = $this->delays[1];
        }

        self::assertLessThanOrEqual(0.5, max($first));
        self::assertLessThanOrEqual(1.0, max($second));
        self::assertGreaterThan(0.5, max($second));
        self::assertGreaterThan(10, count(array_unique($first)));
    }

    #[Test]
    public function a_delay_that_the_server_asks_for_is_kept(): void
    {
        $status = $this->request([
            $this->answer(429, '', ['Retry-After' => '7']),
            $this->answer(403, self::RATE_LIMIT, ['Retry-After' => '3']),
            $this->answer(200),
        ]);

        self::assertSame([200, [7.0, 3.0]], [$status, $this->delays]);
    }

    #[Test]
    public function a_delay_may_be_a_date_and_nonsense_is_none(): void
    {
        $before = time();
        $date = gmdate('D, d M Y H:i:s \G\M\T', $before + 3000);
        $status = $this->request(
            [$this->answer(503, '', ['Retry-After' => $date]), $this->answer(200)],
            4000.0,
        );
        $passed = time() - $before;

        self::assertSame(200, $status);
        self::assertContains(
            $this->delays,
            array_map(fn(int $late): array => [3000.0 - $late], range(0, $passed)),
        );
        foreach (['-5', 'soon', '', '1e999', str_repeat('9', 400), gmdate('r', 0)] as $value) {
            $seconds = Transfer::retryAfter(['retry-after' => [$value]]);
            self::assertContains($seconds, [0, 86_400], $value);
        }
    }

    #[Test]
    public function nothing_is_tried_past_the_timeout(): void
    {
        $inAnHour = gmdate('D, d M Y H:i:s \G\M\T', time() + 3600);
        foreach (['90', $inAnHour] as $retryAfter) {
            self::assertSame(429, $this->request([$this->answer(429, '', ['Retry-After' => $retryAfter])]));
        }
        self::assertSame([], $this->delays);
    }

    #[Test]
    public function a_day_is_from_midnight_to_midnight_pacific_time_also_where_summer_time_begins_and_ends(): void
    {
        $random = Draws::randomizer();
        $pacific = new DateTimeZone('America/Los_Angeles');
        for ($draw = 0; $draw < 1000; $draw++) {
            $now = self::JANUARY + $random->getInt(0, self::TEN_YEARS);
            [$beganAt, $endsAt] = QuotaRecord::day($now);

            self::assertLessThanOrEqual($now, $beganAt, Draws::hint());
            self::assertGreaterThan($now, $endsAt, Draws::hint());
            foreach ([$beganAt, $endsAt] as $midnight) {
                self::assertSame(
                    '00:00:00',
                    new DateTimeImmutable("@$midnight")->setTimezone($pacific)->format('H:i:s'),
                );
            }
            self::assertSame($beganAt, QuotaRecord::day($endsAt - 1)[0], Draws::hint());
        }
    }

    #[Test]
    public function each_quota_counts_alone_and_begins_anew_with_the_day(): void
    {
        $database = MigratedDatabase::inMemory();
        $clock = new FixedClock();
        $record = new QuotaRecord($database, $clock);
        $record->add(QuotaRecord::CHARTS, 3);
        $record->add(QuotaRecord::VIEWS, 1);
        $record->add(QuotaRecord::VIEWS, 4);
        [, $end] = QuotaRecord::day($clock->now);

        self::assertSame(['charts' => 3, 'views' => 5], QuotaRecord::today($database, $end - 1));
        self::assertSame(['charts' => 0, 'views' => 0], QuotaRecord::today($database, $end));
    }

    private function failure(
        string $url,
        float $timeoutSeconds = 40.0,
        ?HttpClientInterface $client = null,
    ): string {
        $api = new Api(
            $client ?? HttpClient::create(),
            new RetryPolicy($timeoutSeconds, delayMilliseconds: 1),
            'key',
            $url,
        );
        try {
            $api->page('GB', null, null);
        } catch (ApiFailure $failure) {
            return $failure->getMessage();
        }
        self::fail('expected a failure');
    }

    /** @param list<MockResponse> $answers */
    private function request(array $answers, float $timeoutSeconds = 40.0): int
    {
        $policy = new RetryPolicy($timeoutSeconds);
        $client = new RetryableHttpClient(new MockHttpClient($answers), $policy, RetryPolicy::ATTEMPTS - 1);

        return $client->request('GET', 'https://videos.example/')->getStatusCode();
    }

    /** @param array<string, string> $headers */
    private function answer(int $status, string $body = '', array $headers = []): MockResponse
    {
        return new MockResponse($body, [
            'http_code' => $status,
            'response_headers' => $headers,
            'pause_handler' => function (float $seconds): void {
                $this->delays[] = $seconds;
            },
        ]);
    }
}
