<?php

declare(strict_types=1);

namespace TrendVault\Writer\Sources\YouTube;

use SensitiveParameter;
use Symfony\Component\HttpClient\RetryableHttpClient;
use Symfony\Contracts\HttpClient\Exception\TransportExceptionInterface;
use Symfony\Contracts\HttpClient\HttpClientInterface;
use Symfony\Contracts\HttpClient\ResponseInterface;
use TrendVault\Writer\Sources\RetryAfter;
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
        'part' => 'snippet,statistics,contentDetails',
        'chart' => 'mostPopular',
        'maxResults' => '50',
        'fields' =>
            'etag,nextPageToken,items(id,snippet(publishedAt,title,channelTitle,categoryId,defaultAudioLanguage,defaultLanguage),' .
            'statistics(viewCount,likeCount,commentCount),contentDetails(duration))',
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
        $error = $status === 200 || $status === 304 ? null : ApiError::of($status, $body);

        return match ($status) {
            200 => self::read($body, (string) Transfer::entityTag($headers), $region),
            304 => new Page(null, (string) $etag, null),
            default => $error === ApiError::NoChart
                ? new Page([], '', null)
                : throw ApiFailure::of($error, $status, $region, RetryAfter::seconds($headers)),
        };
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
                RetryAfter::seconds($headers),
            );
    }

    /**
     * @param array<string, ?string> $query
     * @param string $subject what is asked for, in messages
     * @return array{int, array<string, list<string>>, string} status, headers and body
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
