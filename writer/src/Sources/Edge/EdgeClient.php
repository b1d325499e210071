<?php

declare(strict_types=1);

namespace TrendVault\Writer\Sources\Edge;

use Closure;
use Psr\Clock\ClockInterface;
use Symfony\Contracts\HttpClient\Exception\TransportExceptionInterface;
use Symfony\Contracts\HttpClient\HttpClientInterface;
use TrendVault\Writer\Sources\Transfer;

/**
 * Signed GET requests to the edge. Each attempt is signed anew. A few attempts for each request, with delays that double
 * and are drawn at random or are what Retry-After says, and one timeout for all requests.
 */
final readonly class EdgeClient
{
    public const int MOST_BYTES = 8 * 1024 * 1024;
    public const int ATTEMPTS = 3;

    /** An answer that does not begin or go on for so long is given up; or for a share of the timeout, if that is longer. */
    private const float IDLE_TIMEOUT_SECONDS = 5.0;
    private const float IDLE_SHARE = 1 / 8;
    private const float FIRST_DELAY_SECONDS = 0.25;
    private const int MOST_NESTING = 16;
    private const array TEMPORARY = [408, 425, 429, 500, 502, 503, 504];

    private float $deadline;
    private float $idleSeconds;
    /** @var Closure(float): void */
    private Closure $sleep;

    /**
     * @param string $url scheme, host and port
     * @param float $timeoutSeconds for all requests together, from now on
     * @param ?Closure(float): void $sleep for seconds; null for usleep()
     */
    public function __construct(
        private HttpClientInterface $client,
        private string $url,
        private KeyRing $keys,
        private ClockInterface $clock,
        float $timeoutSeconds,
        ?Closure $sleep = null,
    ) {
        $this->deadline = hrtime(true) / 1e9 + $timeoutSeconds;
        $this->idleSeconds = max(self::IDLE_TIMEOUT_SECONDS, self::IDLE_SHARE * $timeoutSeconds);
        $this->sleep = $sleep ?? static fn(float $seconds) => usleep((int) (1e6 * $seconds));
    }

    /** Zero or less when nothing is left. */
    public function secondsLeft(): float
    {
        return $this->deadline - hrtime(true) / 1e9;
    }

    /**
     * @param string $query with its question mark, or empty
     * @param string $subject what is asked for, in messages
     * @return array<mixed> the members of the answer
     * @throws EdgeFailure
     */
    public function get(string $path, string $query, string $subject): array
    {
        for ($attempt = 1; ; $attempt++) {
            try {
                [$status, $body, $retryAfter] = $this->request($path, $query, $subject);
                $failure =
                    $status === 200 ? null : EdgeFailure::status($status, $subject, self::detail($body));
                $isTemporary = in_array($status, self::TEMPORARY, true);
            } catch (TransportExceptionInterface $exception) {
                [$failure, $isTemporary, $retryAfter] = [self::unreachable($exception, $subject), true, 0.0];
            }
            if ($failure === null) {
                return self::decode($body, $subject);
            }
            $delay = max(
                $retryAfter,
                self::FIRST_DELAY_SECONDS * 2 ** $attempt * (mt_rand() / mt_getrandmax()),
            );
            if (!$isTemporary || $attempt === self::ATTEMPTS || $delay >= $this->secondsLeft()) {
                throw $failure;
            }
            ($this->sleep)($delay);
        }
    }

    /**
     * @return array{int, string, float} status, body, and the seconds that Retry-After asks for
     * @throws EdgeFailure|TransportExceptionInterface
     */
    private function request(string $path, string $query, string $subject): array
    {
        $seconds = $this->secondsLeft();
        if ($seconds <= 0) {
            throw EdgeFailure::late($subject);
        }
        $created = $this->clock->now()->getTimestamp();
        $response = $this->client->request('GET', "$this->url$path$query", [
            'headers' => [
                ...PullSignature::fields($this->keys, $path, $query, $created, bin2hex(random_bytes(16))),
                'Accept' => 'application/json',
                'Accept-Encoding' => 'gzip', // said by us, so that the client does not unpack without a bound
            ],
            'max_redirects' => 0,
            'timeout' => min($this->idleSeconds, $seconds),
            'max_duration' => $seconds,
            'on_progress' => Transfer::limit(self::MOST_BYTES),
        ]);
        $retryAfter = $response->getHeaders(false)['retry-after'][0] ?? '0';

        return [
            $response->getStatusCode(),
            Transfer::unpacked($response->getContent(false), self::MOST_BYTES),
            ctype_digit($retryAfter) ? (float) $retryAfter : 0.0,
        ];
    }

    /**
     * @return array<mixed>
     * @throws EdgeFailure
     */
    private static function decode(string $body, string $subject): array
    {
        $members = json_decode($body, true, self::MOST_NESTING);

        return is_array($members) ? $members : throw EdgeFailure::garbage($subject, 'a JSON object');
    }

    /** What problem+json says about this one, made fit for a log. */
    private static function detail(string $body): string
    {
        $detail = json_decode($body, true)['detail'] ?? '';

        return is_string($detail)
            ? mb_strimwidth((string) preg_replace('/[^\x20-\x7e]+/', ' ', $detail), 0, 200, '…')
            : '';
    }

    private static function unreachable(TransportExceptionInterface $failure, string $subject): EdgeFailure
    {
        return EdgeFailure::noAnswer($subject, Transfer::reason($failure));
    }
}
