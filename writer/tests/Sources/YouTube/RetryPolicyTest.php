<?php

declare(strict_types=1);

namespace TrendVault\Writer\Tests\Sources\YouTube;

use PHPUnit\Framework\Attributes\Test;
use PHPUnit\Framework\TestCase;
use Symfony\Component\HttpClient\MockHttpClient;
use Symfony\Component\HttpClient\Response\MockResponse;
use Symfony\Component\HttpClient\RetryableHttpClient;
use TrendVault\Writer\Sources\Transfer;
use TrendVault\Writer\Sources\YouTube\RetryPolicy;

final class RetryPolicyTest extends TestCase
{
    private const string RATE_LIMIT = '{"error":{"errors":[{"reason":"rateLimitExceeded"}]}}';

    /** @var list<float> seconds */
    private array $delays = [];

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
    public function a_refusal_is_not_tried_again(): void
    {
        self::assertSame(403, $this->request([$this->answer(403, '{}')]));
        self::assertSame([], $this->delays);
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
