<?php

declare(strict_types=1);

namespace TrendVault\Writer\Sources\PeerTube;

use Symfony\Contracts\HttpClient\Exception\TransportExceptionInterface;
use Symfony\Contracts\HttpClient\HttpClientInterface;
use Symfony\Contracts\HttpClient\ResponseInterface;
use TrendVault\Writer\Sources\PlatformFailure;
use TrendVault\Writer\Sources\SourceFailure;
use TrendVault\Writer\Sources\Transfer;

/**
 * GET /api/v1/videos of an instance (https://docs.joinpeertube.org/api-rest-reference.html#operation/getVideos): one
 * request at a time, no retries, and fewer than the 50 in ten seconds that PeerTube allows.
 */
final class Api
{
    /** PeerTube's own bound. */
    public const int VIDEOS_PER_PAGE = 100;
    public const string AGENT = 'TrendVault (+https://github.com/trendvault/trendvault)';

    private const array QUERY = [
        'sort' => '-trending',
        'isLocal' => 'true',
        'nsfw' => 'both',
        'skipCount' => 'true',
        'count' => self::VIDEOS_PER_PAGE,
    ];
    private const float IDLE_TIMEOUT_SECONDS = 10.0;
    private const int MOST_BYTES = 2 * 1024 * 1024;
    /** Each list and object costs some 400 bytes of memory, and can be two bytes of JSON. */
    private const int MOST_CONTAINERS = 60_000;
    private const int MOST_NESTING = 16;
    /** Where an instance says that it is asked too often, but not how long it is to be left alone. */
    private const int TOO_MANY_REQUESTS_SECONDS = 60;

    private float $askedAt = 0.0;

    /** @param float $paceSeconds at least so long from one request to the next */
    public function __construct(
        private readonly HttpClientInterface $client,
        private readonly InstanceUrl $instance,
        private readonly float $paceSeconds = 0.3,
    ) {}

    /**
     * @param int $number from 0
     * @param ?string $etag of the page as it is known
     * @param float $seconds what it may take
     * @throws PlatformFailure
     */
    public function page(int $number, ?string $etag, float $seconds): Page
    {
        $this->keepPace();
        $response = null;
        try {
            $response = $this->request($number, $etag, $seconds);

            return match (true) {
                $response->getStatusCode() === 200 => $this->read($response),
                $response->getStatusCode() === 304 && $etag !== null => new Page(null, $etag),
                default => throw $this->refusal($response),
            };
        } catch (TransportExceptionInterface $failure) {
            throw $this->failure('it does not answer: ' . Transfer::reason($failure));
        } finally {
            $response?->cancel();
        }
    }

    /** @throws TransportExceptionInterface when there can be no such request */
    private function request(int $number, ?string $etag, float $seconds): ResponseInterface
    {
        return $this->client->request('GET', "{$this->instance->url}/api/v1/videos", [
            'query' => ['start' => self::VIDEOS_PER_PAGE * $number, ...self::QUERY],
            'headers' => [
                'Accept' => 'application/json',
                'Accept-Encoding' => 'gzip', // said by us, so that the client does not unpack without a bound
                'User-Agent' => self::AGENT,
                ...$etag === null ? [] : ['If-None-Match' => $etag],
            ],
            'max_redirects' => 0,
            'timeout' => min(self::IDLE_TIMEOUT_SECONDS, $seconds),
            'max_duration' => $seconds,
            'on_progress' => Transfer::limit(self::MOST_BYTES),
        ]);
    }

    private function keepPace(): void
    {
        $wait = $this->askedAt + $this->paceSeconds - hrtime(true) / 1e9;
        if ($wait > 0) {
            usleep(max(0, (int) ceil(1e6 * $wait)));
        }
        $this->askedAt = hrtime(true) / 1e9;
    }

    /** @throws PlatformFailure|TransportExceptionInterface */
    private function read(ResponseInterface $response): Page
    {
        $json = Transfer::unpacked($response->getContent(false), self::MOST_BYTES);
        $containers = substr_count($json, '[') + substr_count($json, '{');
        $body = $containers > self::MOST_CONTAINERS ? null : json_decode($json, true, self::MOST_NESTING);
        $items = is_array($body) ? $body['data'] ?? null : null;

        return is_array($items) && array_is_list($items)
            ? new Page(
                array_slice($items, 0, self::VIDEOS_PER_PAGE),
                Transfer::entityTag($response->getHeaders(false)),
            )
            : throw $this->failure('its answer is not the documented JSON with a list of videos');
    }

    /** @throws TransportExceptionInterface */
    private function refusal(ResponseInterface $response): PlatformFailure
    {
        [$status, $headers] = [$response->getStatusCode(), $response->getHeaders(false)];
        $seconds = in_array($status, [429, 503], true) ? Transfer::retryAfter($headers) : 0;
        $seconds = $status === 429 && $seconds === 0 ? self::TOO_MANY_REQUESTS_SECONDS : $seconds;

        return match (true) {
            $seconds > 0 => $this->refused(
                "it answers $status, and asks for a pause of $seconds s",
                $seconds,
            ),
            isset($headers['location']) && $status >= 300 && $status < 400 => $this->refused(
                "it redirects (status $status). Put the address that it leads to into SOURCES",
            ),
            $status === 404 => $this->refused('it answers 404, so there is no PeerTube at this address'),
            default => $this->failure("it answers $status"),
        };
    }

    private function failure(string $reason): PlatformFailure
    {
        return new PlatformFailure($this->sentence($reason));
    }

    private function refused(string $reason, int $retryAfterSeconds = 0): PlatformFailure
    {
        return new PlatformFailure($this->sentence($reason), $retryAfterSeconds, isRefusal: true);
    }

    private function sentence(string $reason): string
    {
        return "Cannot read {$this->instance->host}: $reason.";
    }
}

/** A page of an instance's list; without items when it was not modified. */
final readonly class Page
{
    /**
     * @param ?list<mixed> $items as PeerTube has them; null: not modified
     * @param ?string $etag null when the instance gives none
     */
    public function __construct(public ?array $items, public ?string $etag) {}
}

/** An instance as SOURCES has it: `peertube:https://tube.example`, and perhaps the regions of its views: `#DE+AT`. */
final readonly class InstanceUrl
{
    public const string PREFIX = 'peertube:';

    private const string URL = '~^(https?)://(\[[0-9a-f:]+\]|[a-z0-9.-]+)(:[0-9]{1,5})?/?(?:#([a-z+]+))?$~Di';
    /** So that a channel's name has room beside it. */
    private const int MOST_HOST_BYTES = 100;
    private const string BY_LANGUAGE = 'language';

    /**
     * @param string $url scheme, host and port
     * @param string $host with its port, where that is not the usual one, as PeerTube writes it
     * @param bool $byLanguage whether a video counts where its language is spoken
     * @param list<string> $regions codes: of all videos, or with $byLanguage of those whose language no region speaks
     */
    private function __construct(
        public string $url,
        public string $host,
        public bool $byLanguage,
        public array $regions,
    ) {}

    /** @throws SourceFailure */
    public static function read(string $name): self
    {
        $text = substr($name, strlen(self::PREFIX));
        if (preg_match(self::URL, $text, $match) !== 1 || strlen($match[2]) > self::MOST_HOST_BYTES) {
            throw SourceFailure::because(
                "Cannot read $name: expected peertube: and the address of an instance without a path, and perhaps regions, for example peertube:https://tube.example or peertube:https://tube.example#DE+AT.",
            );
        }
        if (!Transfer::isPrivate($match[1], $match[2])) {
            throw SourceFailure::because(
                "Cannot read $name: expected https. http is for this machine only: localhost, 127.0.0.1 and [::1].",
            );
        }
        $host = strtolower($match[2] . ($match[3] ?? ''));
        $words = array_values(array_unique(array_filter(explode('+', $match[4] ?? self::BY_LANGUAGE))));
        $named = array_values(array_diff($words, [self::BY_LANGUAGE]));

        return new self(strtolower($match[1]) . "://$host", $host, $named !== $words, $named);
    }
}
