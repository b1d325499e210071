<?php

declare(strict_types=1);

namespace TrendVault\Writer\Sources\Edge;

use Closure;
use Generator;
use Psr\Clock\ClockInterface;
use SensitiveParameter;
use Symfony\Contracts\HttpClient\Exception\TimeoutExceptionInterface;
use Symfony\Contracts\HttpClient\Exception\TransportExceptionInterface;
use Symfony\Contracts\HttpClient\HttpClientInterface;
use TrendVault\Writer\Cli\Settings;
use TrendVault\Writer\Sources\SideBySide;
use TrendVault\Writer\Sources\SourceFailure;
use TrendVault\Writer\Sources\Transfer;
use TrendVault\Writer\WriterException;

/**
 * Asks the edge about its counters, by GET requests, which change nothing there. Each attempt is signed anew. A few
 * attempts for each request, with delays that double and are drawn at random or are what Retry-After says, and one
 * timeout for all requests.
 */
final readonly class EdgeClient
{
    private const int MOST_BYTES = 8 * 1024 * 1024;
    private const int ATTEMPTS = 3;

    /** An answer that does not begin or go on for so long is given up; or for a share of the timeout, if that is longer. */
    private const float IDLE_TIMEOUT_SECONDS = 5.0;
    private const float IDLE_SHARE = 1 / 8;
    private const float FIRST_DELAY_SECONDS = 0.25;
    private const int MOST_NESTING = 16;
    private const array TEMPORARY = [408, 425, 429, 500, 502, 503, 504];

    /** Lists of a minute in an answer; a first minute that has more comes whole. */
    private const int LIMIT = 1000;
    private const int MOST_SHARDS = 10_000;
    private const string SHARD = '/^[A-Z]{2}-(?:[0-9]|[1-5][0-9]|6[0-3])$/D';

    private float $deadline;
    private float $idleSeconds;
    private SideBySide $sideBySide;
    /** @var Closure(float): void */
    private Closure $sleep;

    /**
     * @param string $url scheme, host and port
     * @param float $timeoutSeconds for all requests together, from now on
     * @param ?Closure(float): void $sleep for seconds; null to let other tasks go on
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
        $this->sideBySide = new SideBySide($client);
        $this->sleep = $sleep ?? $this->sideBySide->sleep(...);
    }

    /**
     * @return list<string> such as GB-0
     * @throws EdgeFailure
     */
    public function shards(): array
    {
        $subject = 'the list of shards';
        $shards = $this->get('/api/views/shards', '', $subject)['shards'] ?? null;
        $names = is_array($shards) && array_is_list($shards) ? array_filter($shards, is_string(...)) : [];
        $isList =
            $names === $shards &&
            count($names) <= self::MOST_SHARDS &&
            array_all($names, static fn(string $name): bool => preg_match(self::SHARD, $name) === 1);

        return $isList
            ? array_values(array_unique($names))
            : throw EdgeFailure::garbage($subject, 'names such as GB-0');
    }

    /**
     * @param ?int $after the last minute that is known; null for all that are kept
     * @throws EdgeFailure
     */
    public function minutes(string $shard, ?int $after): ClosedMinutes
    {
        $query = "?shard=$shard" . ($after === null ? '' : "&after=$after") . '&limit=' . self::LIMIT;
        $members = $this->get('/api/views/minutes', $query, $shard);

        return ClosedMinutes::read($members, $shard, $after, $this->clock->now()->getTimestamp());
    }

    /** @param Generator<Closure(): void> $tasks that ask for minutes */
    public function sideBySide(Generator $tasks): void
    {
        $this->sideBySide->run($tasks);
    }

    /** Whether the timeout of all requests is not reached yet. */
    public function hasTime(): bool
    {
        return $this->secondsLeft() > 0;
    }

    /** Zero or less when nothing is left. */
    private function secondsLeft(): float
    {
        return $this->deadline - hrtime(true) / 1e9;
    }

    /**
     * @param string $query with its question mark, or empty
     * @param string $subject what is asked for, in messages
     * @return array<mixed> the members of the answer
     * @throws EdgeFailure
     */
    private function get(string $path, string $query, string $subject): array
    {
        $attempt = 0;
        while (true) {
            $attempt++;
            try {
                [$status, $body, $retryAfter] = $this->sideBySide->alone(
                    fn(): array => $this->request($path, $query, $subject),
                );
                if ($status === 200) {
                    return self::decode($body, $subject);
                }
                $failure = EdgeFailure::status($status, $subject, self::detail($body));
                $isTemporary = in_array($status, self::TEMPORARY, true);
            } catch (TransportExceptionInterface $exception) {
                [$failure, $isTemporary, $retryAfter] = [self::unreachable($exception, $subject), true, 0.0];
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
                ...$this->keys->sign($path, $query, $created, bin2hex(random_bytes(16))),
                'Accept' => 'application/json',
                'Accept-Encoding' => 'gzip', // said by us, so that the client does not unpack without a bound
            ],
            'max_redirects' => 0,
            'on_progress' => Transfer::limit(self::MOST_BYTES),
        ]);
        do {
            $chunk = $this->sideBySide->chunk($response, min($this->idleSeconds, $this->secondsLeft()));
        } while (!$chunk->isLast());
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
        return EdgeFailure::noAnswer(
            $subject,
            Transfer::reason($failure),
            isSilence: $failure instanceof TimeoutExceptionInterface,
        );
    }
}

/** Reads VIEWS_KEYS, "k2:<base64url>,k1:<base64url>", as contract/keys.ts does. The first key signs. */
final readonly class KeyRing
{
    private const string ENTRY = '/^([A-Za-z0-9]{1,16}):([A-Za-z0-9_-]+)$/D';
    /** As long as the output of SHA-256 (RFC 2104, section 3). */
    private const int SHORTEST_BYTES = 32;
    private const string COMPONENTS = '("@method" "@path" "@query")';

    private function __construct(private string $keyId, #[SensitiveParameter] private string $key) {}

    /** @throws SourceFailure that does not quote the key */
    public static function read(#[SensitiveParameter] string $text): self
    {
        $entry = trim(explode(',', $text)[0]);
        $key =
            preg_match(self::ENTRY, $entry, $match) === 1
                ? base64_decode(strtr($match[2], '-_', '+/'), true)
                : false;

        return $key !== false && strlen($key) >= self::SHORTEST_BYTES
            ? new self($match[1], $key)
            : throw SourceFailure::because(
                'Cannot read VIEWS_KEYS: expected id:key, a key id of 1 to 16 letters or digits and base64url of at least 32 random bytes, as the edge has it.',
            );
    }

    /**
     * Signs a request as contract/request-signatures.ts says (RFC 9421).
     *
     * @param string $query with its question mark, as it is sent; or empty
     * @param int $created UTC seconds
     * @param string $nonce 16 to 64 characters of base64url, other ones for every request
     * @return array<string, string> the two fields
     */
    public function sign(string $path, string $query, int $created, string $nonce): array
    {
        $parameters =
            self::COMPONENTS .
            ";created=$created;nonce=\"$nonce\";keyid=\"$this->keyId\";alg=\"hmac-sha256\"";
        $base = implode("\n", [
            '"@method": GET',
            "\"@path\": $path",
            '"@query": ' . ($query === '' ? '?' : $query),
            "\"@signature-params\": $parameters",
        ]);
        $mac = base64_encode(hash_hmac('sha256', $base, $this->key, true));

        return ['Signature-Input' => "pull=$parameters", 'Signature' => "pull=:$mac:"];
    }
}

/** The edge as SOURCES names it, `edge:https://lists.example`, and what the environment says about pulling counts from it. */
final readonly class EdgeSettings
{
    private const string PREFIX = 'edge:';

    /** Scheme, host and port, without anything behind: what is signed is the path, so there is none of the operator's. */
    private const string URL = '~^(https?)://(\[[0-9a-f:]+\]|[a-z0-9.-]+)(:[0-9]{1,5})?/?$~Di';
    private const float CEILING_FACTOR = 3;
    private const int MOST_CEILING_FACTOR = 1000;

    private function __construct(
        public KeyRing $keys,
        /** how many impressions are counted at most for each list that the edge served. */
        public float $ceilingFactor,
        /** Scheme, host and port. */
        public string $url,
    ) {}

    /** @throws SourceFailure|WriterException */
    public static function of(Settings $settings, string $name): self
    {
        return new self(
            KeyRing::read(
                $settings->secret('VIEWS_KEYS') ??
                    throw SourceFailure::because(
                        'Cannot read the edge: VIEWS_KEYS is not set. Expected id:key, as the edge has it.',
                    ),
            ),
            $settings->sourceNumber(
                'VIEWS_CEILING_FACTOR',
                self::CEILING_FACTOR,
                0,
                self::MOST_CEILING_FACTOR,
            ),
            self::url($name),
        );
    }

    /** @throws SourceFailure */
    private static function url(string $name): string
    {
        $url = substr($name, strlen(self::PREFIX));
        if (preg_match(self::URL, $url, $match) !== 1) {
            throw SourceFailure::because(
                "Cannot read $name: expected edge: and an https address without a path, for example edge:https://lists.example.",
            );
        }

        return Transfer::isPrivate($match[1], $match[2])
            ? rtrim($url, '/')
            : throw SourceFailure::because(
                "Cannot read $name: expected https. http is for this machine only: localhost, 127.0.0.1 and [::1].",
            );
    }
}
