<?php

declare(strict_types=1);

namespace TrendVault\Writer\Sources\YouTube;

use DateTimeImmutable;
use DateTimeZone;
use Override;
use Psr\Clock\ClockInterface;
use SensitiveParameter;
use Symfony\Component\HttpClient\Response\AsyncContext;
use Symfony\Component\HttpClient\Retry\GenericRetryStrategy;
use Symfony\Component\HttpClient\RetryableHttpClient;
use Symfony\Contracts\HttpClient\Exception\TransportExceptionInterface;
use Symfony\Contracts\HttpClient\HttpClientInterface;
use Symfony\Contracts\HttpClient\ResponseInterface;
use TrendVault\Writer\Database\Database;
use TrendVault\Writer\Sources\PlatformFailure;
use TrendVault\Writer\Sources\Schedule;
use TrendVault\Writer\Sources\Transfer;

/**
 * videos.list with chart=mostPopular (https://developers.google.com/youtube/v3/docs/videos/list), and
 * videos.batchGetStats (https://developers.google.com/youtube/v3/docs/videos/batchGetStats). Each request costs one unit
 * of quota, the second method's of a quota of its own. The key travels in a header, so that no address, log or error can
 * carry it.
 */
final readonly class Api
{
    public const string URL = 'https://www.googleapis.com/youtube/v3/videos';

    public const int IDS_PER_REQUEST = 50;

    private const string STATS = ':batchGetStats';
    private const array STATS_QUERY = [
        'part' => 'id,statistics',
        'fields' => 'items(id,statistics(viewCount,likeCount,commentCount))',
    ];
    private const array QUERY = [
        'part' => 'snippet,statistics,contentDetails,status,localizations',
        'chart' => 'mostPopular',
        'maxResults' => '50',
        'fields' =>
            'etag,nextPageToken,items(id,snippet(publishedAt,title,tags,channelTitle,categoryId,defaultAudioLanguage,defaultLanguage,liveBroadcastContent),' .
            'statistics(viewCount,likeCount,commentCount),contentDetails(duration,regionRestriction,contentRating(ytRating)),status(madeForKids,license),localizations/*/title)',
    ];

    private const float IDLE_TIMEOUT_SECONDS = 10.0;
    /** Longer ones are not stored: those that YouTube gives have some ten characters. */
    private const int LONGEST_TOKEN = 500;

    private HttpClientInterface $client;

    public function __construct(
        HttpClientInterface $client,
        private RetryPolicy $retryPolicy,
        #[SensitiveParameter] private string $key,
        private string $url = self::URL,
        private ?QuotaRecord $quota = null,
    ) {
        $this->client = new RetryableHttpClient($client, $retryPolicy, RetryPolicy::ATTEMPTS - 1);
    }

    /**
     * @param ?string $pageToken null for the first page
     * @param ?string $etag of the page as it is known
     * @throws ApiFailure
     */
    public function page(string $region, ?string $pageToken, ?string $etag): Page
    {
        $query = [...self::QUERY, 'regionCode' => $region, 'pageToken' => $pageToken];
        [$status, $headers, $body] = $this->answer('', $query, $region, $etag);
        if ($status === 200) {
            return self::read($body, (string) Transfer::entityTag($headers), $region);
        }
        if ($status === 304) {
            return new Page(null, (string) $etag, null);
        }
        $error = ApiError::of($status, $body);

        return $error === ApiError::NoChart
            ? new Page([], '', null)
            : throw ApiFailure::of($error, $status, $region, Transfer::retryAfter($headers));
    }

    /**
     * What is counted of videos; those that are not public any more are missing.
     *
     * @param list<string> $ids at most IDS_PER_REQUEST
     * @return list<array<mixed>> each with id and statistics
     * @throws ApiFailure
     */
    public function stats(array $ids): array
    {
        $subject = 'the views of videos';
        $query = [...self::STATS_QUERY, 'id' => implode(',', $ids)];
        [$status, $headers, $body] = $this->answer(self::STATS, $query, $subject, null);

        return $status === 200
            ? self::read($body, '', $subject)->items ?? []
            : throw ApiFailure::of(
                ApiError::of($status, $body),
                $status,
                $subject,
                Transfer::retryAfter($headers),
            );
    }

    /**
     * @param array<string, ?string> $query
     * @param string $subject what is asked for, in messages
     * @return array{int, array<array<string>>, string} status, headers and body
     * @throws ApiFailure
     */
    private function answer(string $method, array $query, string $subject, ?string $etag): array
    {
        $response = null;
        try {
            $response = $this->request($method, $query, $subject, $etag);
            $answer = [
                $response->getStatusCode(),
                $response->getHeaders(false),
                Transfer::unpacked($response->getContent(false), RetryPolicy::MOST_BYTES),
            ];
        } catch (TransportExceptionInterface $failure) {
            $this->count($method, $response);
            throw new ApiFailure(
                "YouTube does not answer for $subject: " . self::reason($response, $failure) . '.',
                ApiError::Temporary,
            );
        }
        $this->count($method, $response);

        return $answer;
    }

    private function count(string $method, ?ResponseInterface $response): void
    {
        if ($response !== null) {
            $quota = $method === self::STATS ? QuotaRecord::VIEWS : QuotaRecord::CHARTS;
            $this->quota?->add($quota, self::attempts($response));
        }
    }

    /** Whether the timeout of all requests is not reached yet. */
    public function hasTime(): bool
    {
        return $this->retryPolicy->secondsLeft() > 0;
    }

    /**
     * @param array<string, ?string> $query
     * @throws ApiFailure when no time is left
     * @throws TransportExceptionInterface when there can be no such request
     */
    private function request(string $method, array $query, string $subject, ?string $etag): ResponseInterface
    {
        $seconds = $this->retryPolicy->secondsLeft();
        if ($seconds <= 0) {
            throw ApiFailure::late($subject);
        }

        return $this->client->request('GET', "$this->url$method", [
            'query' => $query,
            'headers' => [
                'X-Goog-Api-Key' => $this->key,
                'Accept' => 'application/json',
                'Accept-Encoding' => 'gzip', // said by us, so that the client does not unpack without a bound
                ...$etag === null ? [] : ['If-None-Match' => $etag],
            ],
            'max_redirects' => 0,
            'timeout' => min(self::IDLE_TIMEOUT_SECONDS, $seconds),
            'max_duration' => $seconds,
            'on_progress' => Transfer::limit(RetryPolicy::MOST_BYTES),
        ]);
    }

    private static function reason(?ResponseInterface $response, TransportExceptionInterface $failure): string
    {
        return Transfer::reason($failure) . ', attempt ' . self::attempts($response);
    }

    private static function attempts(?ResponseInterface $response): int
    {
        return 1 + (int) $response?->getInfo('retry_count');
    }

    /** @throws ApiFailure */
    private static function read(string $json, string $etag, string $region): Page
    {
        $body = json_decode($json, true);
        $token = is_array($body) ? $body['nextPageToken'] ?? null : null;

        return is_array($body) &&
            is_array($body['items'] ?? null) &&
            array_is_list($body['items']) &&
            ($token === null || (is_string($token) && strlen($token) <= self::LONGEST_TOKEN))
            ? new Page(
                array_values(
                    array_filter(array_slice($body['items'], 0, self::IDS_PER_REQUEST), is_array(...)),
                ),
                $etag,
                $token,
            )
            : throw new ApiFailure(
                "YouTube answered the request for $region with a body that is not the documented JSON.",
                ApiError::Unexpected,
            );
    }
}

/** One page of a region's chart; without items when it was not modified. */
final readonly class Page
{
    /** @param ?list<array<mixed>> $items null: not modified */
    public function __construct(public ?array $items, public string $etag, public ?string $nextPageToken) {}
}

/** What an answer that is not 200 or 304 means, after https://developers.google.com/youtube/v3/docs/errors. */
enum ApiError
{
    /** The day's quota is used up, until midnight Pacific time. */
    case QuotaExceeded;
    case KeyRefused;
    /** The region has no chart. */
    case NoChart;
    /** Too many requests, or a fault at their end: worth another attempt. */
    case Temporary;
    case Unexpected;

    private const array QUOTA_REASONS = ['quotaExceeded', 'dailyLimitExceeded'];
    private const array RATE_REASONS = ['rateLimitExceeded', 'userRateLimitExceeded'];
    private const array KEY_REASONS = [
        'keyInvalid',
        'keyExpired',
        'accessNotConfigured',
        'forbidden',
        'ipRefererBlocked',
        'API_KEY_INVALID',
    ];

    /** @param int $status 400 or more */
    public static function of(int $status, string $body): self
    {
        $reasons = self::reasons($body);

        return match (true) {
            array_intersect($reasons, self::QUOTA_REASONS) !== [] => self::QuotaExceeded,
            $status >= 500,
            $status === 429,
            array_intersect($reasons, self::RATE_REASONS) !== []
                => self::Temporary,
            $status === 401, array_intersect($reasons, self::KEY_REASONS) !== [] => self::KeyRefused,
            in_array('videoChartNotFound', $reasons, true) => self::NoChart,
            default => self::Unexpected,
        };
    }

    /** @return list<string> */
    private static function reasons(string $body): array
    {
        $error = json_decode($body, true)['error'] ?? [];
        $reasons = [];
        foreach (['errors', 'details'] as $name) {
            $entries = is_array($error) ? $error[$name] ?? null : null;
            foreach (is_array($entries) ? $entries : [] as $entry) {
                $reason = is_array($entry) ? $entry['reason'] ?? null : null;
                if (is_string($reason)) {
                    $reasons[] = $reason;
                }
            }
        }

        return $reasons;
    }
}

/** A page that was not answered as wanted. */
final class ApiFailure extends PlatformFailure
{
    private const int QUOTA_SPREAD_SECONDS = 300;

    /** @param int $retryAfterSeconds how long the server asks us to wait; 0 when it does not */
    public function __construct(string $message, public readonly ApiError $error, int $retryAfterSeconds = 0)
    {
        $isRefusal = $error === ApiError::QuotaExceeded || $error === ApiError::KeyRefused;
        parent::__construct($message, $retryAfterSeconds, $isRefusal);
    }

    public static function of(ApiError $error, int $status, string $region, int $retryAfterSeconds): self
    {
        $message = match ($error) {
            ApiError::QuotaExceeded
                => 'YouTube\'s quota for today is used up; it resets at midnight Pacific time, and nothing is asked before. Raise SOURCE_INTERVAL_SECONDS, or apply for more quota.',
            ApiError::KeyRefused
                => 'YouTube refuses the key in YOUTUBE_API_KEY: expected one that is allowed to use the YouTube Data API v3 from this machine.',
            ApiError::Temporary => "YouTube does not answer for $region: status $status, after " .
                RetryPolicy::ATTEMPTS .
                ' attempts or the timeout.',
            ApiError::NoChart,
            ApiError::Unexpected
                => "YouTube answered the request for $region with status $status, an undocumented status.",
        };

        return new self($message, $error, $retryAfterSeconds);
    }

    public static function late(string $region): self
    {
        return new self(
            "YouTube took too long: the timeout was reached before $region.",
            ApiError::Temporary,
        );
    }

    #[Override]
    public function secondsToWait(int $intervalSeconds, int $now): int
    {
        return match ($this->error) {
            ApiError::QuotaExceeded => self::secondsToQuota($now),
            ApiError::KeyRefused => max($intervalSeconds, Schedule::FIRST_DELAY_SECONDS),
            default => $this->retryAfterSeconds,
        };
    }

    /** Until midnight Pacific time, when the quota is renewed, and a little longer: others wait for it, too. */
    private static function secondsToQuota(int $now): int
    {
        return QuotaRecord::day($now)[1] - $now + random_int(0, self::QUOTA_SPREAD_SECONDS);
    }
}

/**
 * Which answers are worth another attempt, and for how long: a few attempts for each request, with delays that
 * double and are drawn at random (full jitter) or are what Retry-After says, and one timeout for all requests.
 */
final class RetryPolicy extends GenericRetryStrategy
{
    public const int ATTEMPTS = 4;
    /** Of an answer. */
    public const int MOST_BYTES = 4 << 20; // a hundred titles of each video

    private const int DELAY_MILLISECONDS = 250;
    private const int LONGEST_DELAY_MILLISECONDS = 8000;

    private readonly float $deadline;

    /**
     * @param float $timeoutSeconds for all requests together, from now on
     * @param int $delayMilliseconds what the first delay is on average: it is drawn from 0 to twice of it
     */
    public function __construct(float $timeoutSeconds, int $delayMilliseconds = self::DELAY_MILLISECONDS)
    {
        parent::__construct([], $delayMilliseconds, 2.0, self::LONGEST_DELAY_MILLISECONDS, 1.0);
        $this->deadline = self::now() + $timeoutSeconds;
    }

    /** Zero or less when nothing is left. */
    public function secondsLeft(): float
    {
        return $this->deadline - self::now();
    }

    #[Override]
    public function shouldRetry(
        AsyncContext $context,
        ?string $responseContent,
        ?TransportExceptionInterface $exception,
    ): ?bool {
        $status = $context->getStatusCode();
        if ($exception === null && $status >= 400 && $responseContent === null) {
            return null; // the body tells a rate limit from a refusal
        }
        $temporary =
            $exception !== null ||
            ($status >= 400 &&
                ApiError::of($status, Transfer::unpacked($responseContent, self::MOST_BYTES)) ===
                    ApiError::Temporary);

        /** @var array<array<string>> $headers the client's own signature leaves it open */
        $headers = $context->getHeaders();

        return $temporary && Transfer::retryAfter($headers) < $this->secondsLeft();
    }

    private static function now(): float
    {
        return hrtime(true) / 1e9;
    }
}

/**
 * What was used of each quota at most: an attempt to send a request counts as a unit, also one that did not get through.
 */
final readonly class QuotaRecord
{
    public const string CHARTS = 'charts';
    public const string VIEWS = 'views';

    private const string ADD = <<<'SQL'
    INSERT INTO youtube_quota (day_began_at, quota, units) VALUES (?, ?, ?)
    ON CONFLICT DO UPDATE SET units = units + excluded.units
    SQL;

    public function __construct(private Database $database, private ClockInterface $clock) {}

    /** @param string $quota CHARTS or VIEWS */
    public function add(string $quota, int $units): void
    {
        [$beganAt] = self::day($this->clock->now()->getTimestamp());
        $this->database->run(self::ADD, [$beganAt, $quota, $units]);
    }

    /**
     * @param int $now UTC seconds
     * @return array<string, int> units of the day, by quota
     */
    public static function today(Database $database, int $now): array
    {
        $sql = 'SELECT quota, units FROM youtube_quota WHERE day_began_at = ?';
        /** @var array<string, int> $units */
        $units = array_column($database->rows($sql, [self::day($now)[0]]), 'units', 'quota');

        return [self::CHARTS => 0, self::VIEWS => 0, ...$units];
    }

    /**
     * From midnight to midnight Pacific time.
     *
     * @param int $now UTC seconds
     * @return array{int, int} when the day of the quota began, and when it ends
     */
    public static function day(int $now): array
    {
        $pacific = new DateTimeImmutable("@$now")->setTimezone(new DateTimeZone('America/Los_Angeles'));

        return [$pacific->modify('today')->getTimestamp(), $pacific->modify('tomorrow')->getTimestamp()];
    }
}
