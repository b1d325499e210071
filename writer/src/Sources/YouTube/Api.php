<?php

declare(strict_types=1);

namespace TrendVault\Writer\Sources\YouTube;

use SensitiveParameter;
use TrendVault\Writer\Sources\SourceFailure;

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

    public function __construct(
        private Http $http,
        private Patience $patience,
        #[SensitiveParameter] private string $key,
        private string $url = self::URL,
    ) {}

    /**
     * @param ?string $pageToken null for the first page
     * @param ?string $etag of the page as it is known
     * @throws SourceFailure|Refused
     */
    public function page(string $region, ?string $pageToken, ?string $etag): Page
    {
        $query = [
            ...self::QUERY,
            'regionCode' => $region,
            ...$pageToken === null ? [] : ['pageToken' => $pageToken],
        ];
        $headers = [
            "X-Goog-Api-Key: $this->key",
            'Accept: application/json',
            ...$etag === null ? [] : ["If-None-Match: $etag"],
        ];
        $response = $this->request("$this->url?" . http_build_query($query), $headers, $region);

        return match ($response->status) {
            200 => self::read($response, $region),
            304 => new Page(null, (string) $etag, null),
            default => match (ApiError::of($response)) {
                ApiError::NoChart => new Page([], '', null),
                ApiError::QuotaExceeded => throw Refused::quota(),
                ApiError::KeyRefused => throw Refused::key(),
                ApiError::Passing => throw SourceFailure::because(
                    "YouTube does not answer for $region: status $response->status, after " .
                        Patience::ATTEMPTS .
                        ' attempts or the deadline.',
                ),
                ApiError::Unexpected => throw SourceFailure::because(
                    "YouTube refused the request for $region with status $response->status, which the documentation does not lead to expect.",
                ),
            },
        };
    }

    /**
     * The last answer, also when it is of their trouble.
     *
     * @param list<string> $headers
     * @throws SourceFailure when there was none
     */
    private function request(string $url, array $headers, string $region): HttpResponse
    {
        for ($attempt = 1; ; $attempt++) {
            $seconds = $this->patience->requestSeconds();
            if ($seconds <= 0) {
                throw SourceFailure::because(
                    "YouTube took too long: the deadline was reached before $region.",
                );
            }
            try {
                $response = $this->http->get($url, $headers, $seconds);
                if (
                    $response->status < 400 ||
                    ApiError::of($response) !== ApiError::Passing ||
                    !$this->patience->pauseAfter($attempt, self::retryAfter($response))
                ) {
                    return $response;
                }
            } catch (NoAnswer $reason) {
                if (!$this->patience->pauseAfter($attempt, null)) {
                    throw SourceFailure::because(
                        "YouTube does not answer for $region: {$reason->getMessage()}, attempt $attempt.",
                    );
                }
            }
        }
    }

    private static function retryAfter(HttpResponse $response): ?float
    {
        $value = $response->headers['retry-after'] ?? '';

        return ctype_digit($value) ? (float) $value : null;
    }

    /** @throws SourceFailure */
    private static function read(HttpResponse $response, string $region): Page
    {
        $body = json_decode($response->body, true);
        $token = is_array($body) ? $body['nextPageToken'] ?? null : null;

        return is_array($body) &&
            is_array($body['items'] ?? null) &&
            array_is_list($body['items']) &&
            ($token === null || is_string($token))
            ? new Page(
                array_values(array_filter($body['items'], is_array(...))),
                $response->headers['etag'] ?? '',
                $token,
            )
            : throw SourceFailure::because(
                "YouTube answered for $region with something else than the documented JSON.",
            );
    }
}
