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
 * videos.list with chart=mostPopular (https://developers.google.com/youtube/v3/docs/videos/list). Each request
 * costs one unit of quota. The key travels in a header, so that no address, log or error can carry it.
 */
final readonly class Api
{
    public const string URL = 'https://www.googleapis.com/youtube/v3/videos';

    private const array QUERY = [
        'part' => 'snippet,statistics,contentDetails',
        'chart' => 'mostPopular',
        'maxResults' => '50',
        'fields' =>
            'etag,nextPageToken,items(id,snippet(publishedAt,title,channelTitle,categoryId,defaultAudioLanguage,defaultLanguage),' .
            'statistics(viewCount,likeCount,commentCount),contentDetails(duration))',
    ];

    private const float IDLE_TIMEOUT_SECONDS = 10.0;

    private HttpClientInterface $client;

    public function __construct(
        HttpClientInterface $client,
        private RetryPolicy $retryPolicy,
        #[SensitiveParameter] string $key,
        private string $url = self::URL,
    ) {
        $this->client = new RetryableHttpClient(
            $client,
            $retryPolicy,
            RetryPolicy::ATTEMPTS - 1,
        )->withOptions([
            'headers' => [
                'X-Goog-Api-Key' => $key,
                'Accept' => 'application/json',
                'Accept-Encoding' => 'gzip',
            ],
            'max_redirects' => 0,
            'on_progress' => Transfer::limit(RetryPolicy::MOST_BYTES),
        ]);
    }

    /**
     * @param ?string $pageToken null for the first page
     * @param ?string $etag of the page as it is known
     * @throws ApiFailure
     */
    public function page(string $region, ?string $pageToken, ?string $etag): Page
    {
        $response = $this->request($region, $pageToken, $etag);
        try {
            $status = $response->getStatusCode();
            $body = Transfer::unpacked($response->getContent(false), RetryPolicy::MOST_BYTES);
        } catch (TransportExceptionInterface $failure) {
            throw new ApiFailure(
                "YouTube does not answer for $region: " . self::reason($response, $failure) . '.',
                ApiError::Temporary,
            );
        }
        $error = $status === 200 || $status === 304 ? null : ApiError::of($status, $body);

        return match ($status) {
            200 => self::read($body, $response->getHeaders()['etag'][0] ?? '', $region),
            304 => new Page(null, (string) $etag, null),
            default => $error === ApiError::NoChart
                ? new Page([], '', null)
                : throw ApiFailure::of(
                    $error,
                    $status,
                    $region,
                    RetryAfter::seconds($response->getHeaders(false)),
                ),
        };
    }

    /** Whether the timeout of all requests is not reached yet. */
    public function hasTime(): bool
    {
        return $this->retryPolicy->secondsLeft() > 0;
    }

    /** @throws ApiFailure when no time is left */
    private function request(string $region, ?string $pageToken, ?string $etag): ResponseInterface
    {
        $seconds = $this->retryPolicy->secondsLeft();
        if ($seconds <= 0) {
            throw ApiFailure::late($region);
        }

        return $this->client->request('GET', $this->url, [
            'query' => [...self::QUERY, 'regionCode' => $region, 'pageToken' => $pageToken],
            'headers' => $etag === null ? [] : ['If-None-Match' => $etag],
            'timeout' => min(self::IDLE_TIMEOUT_SECONDS, $seconds),
            'max_duration' => $seconds,
        ]);
    }

    private static function reason(ResponseInterface $response, TransportExceptionInterface $failure): string
    {
        $attempt = 1 + (int) $response->getInfo('retry_count');

        return Transfer::reason($failure) . ", attempt $attempt";
    }

    /** @throws ApiFailure */
    private static function read(string $json, string $etag, string $region): Page
    {
        $body = json_decode($json, true);
        $token = is_array($body) ? $body['nextPageToken'] ?? null : null;

        return is_array($body) &&
            is_array($body['items'] ?? null) &&
            array_is_list($body['items']) &&
            ($token === null || is_string($token))
            ? new Page(array_values(array_filter($body['items'], is_array(...))), $etag, $token)
            : throw new ApiFailure(
                "YouTube answered the request for $region with a body that is not the documented JSON.",
                ApiError::Unexpected,
            );
    }
}
