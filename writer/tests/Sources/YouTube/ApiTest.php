<?php

declare(strict_types=1);

namespace TrendVault\Writer\Tests\Sources\YouTube;

use PHPUnit\Framework\Attributes\Test;
use PHPUnit\Framework\TestCase;
use Symfony\Component\HttpClient\HttpClient;
use Symfony\Component\HttpClient\MockHttpClient;
use Symfony\Component\HttpClient\Response\MockResponse;
use Symfony\Contracts\HttpClient\HttpClientInterface;
use TrendVault\Writer\Sources\YouTube\Api;
use TrendVault\Writer\Sources\YouTube\ApiFailure;
use TrendVault\Writer\Sources\YouTube\RetryPolicy;

final class ApiTest extends TestCase
{
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
}
