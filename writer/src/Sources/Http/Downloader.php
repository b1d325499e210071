<?php

declare(strict_types=1);

namespace TrendVault\Writer\Sources\Http;

use SensitiveParameter;
use Symfony\Contracts\HttpClient\Exception\TransportExceptionInterface;
use Symfony\Contracts\HttpClient\HttpClientInterface;
use Symfony\Contracts\HttpClient\ResponseInterface;
use TrendVault\Writer\Sources\RetryAfter;
use TrendVault\Writer\Sources\SourceFailure;
use TrendVault\Writer\Sources\Transfer;

/** Downloads a file before a line of it is read: a connection that breaks leaves nothing half stored. One request, no retry: the next run asks again. */
final readonly class Downloader
{
    private const float IDLE_TIMEOUT_SECONDS = 10.0;

    /** @param string $folder where what is received lies until it is read */
    public function __construct(
        private HttpClientInterface $client,
        private DownloadRules $rules,
        private string $folder,
    ) {}

    /**
     * Null when the file is still the version of the entity tag.
     *
     * @throws HttpPause|SourceFailure
     */
    public function fetch(HttpUrl $url, ?string $etag): ?Download
    {
        $response = null;
        try {
            $response = $this->request($url, $etag);
            $status = $response->getStatusCode();
            if ($status === 304 && $etag !== null) {
                return null;
            }

            return $status === 200 ? $this->receive($response, $url) : throw self::refusal($response, $url);
        } catch (TransportExceptionInterface $failure) {
            throw SourceFailure::because(
                "Cannot read {$url->label()}: " . Transfer::reason($failure) . '. Nothing of it is stored.',
            );
        } finally {
            $response?->cancel();
        }
    }

    /** @throws TransportExceptionInterface when there can be no such request */
    private function request(HttpUrl $url, ?string $etag): ResponseInterface
    {
        return $this->client->request('GET', $url->url, [
            'headers' => self::headers($etag, $this->rules->authorization($url->host)),
            'max_redirects' => 0,
            'timeout' => min(self::IDLE_TIMEOUT_SECONDS, $this->rules->timeoutSeconds),
            'max_duration' => $this->rules->timeoutSeconds,
            'buffer' => false,
        ]);
    }

    /** @return array<string, string> */
    private static function headers(?string $etag, #[SensitiveParameter] ?string $authorization): array
    {
        return [
            'Accept' => 'application/x-ndjson, application/jsonl, */*;q=0.5',
            'Accept-Encoding' => 'gzip',
            ...$etag === null ? [] : ['If-None-Match' => $etag],
            ...$authorization === null ? [] : ['Authorization' => $authorization],
        ];
    }

    /** @throws SourceFailure|TransportExceptionInterface */
    private function receive(ResponseInterface $response, HttpUrl $url): Download
    {
        $stream = $this->openUnnamed();
        $bytes = 0;
        foreach ($this->client->stream($response) as $chunk) {
            $content = $chunk->getContent();
            $bytes += strlen($content);
            if ($bytes > $this->rules->mostBytes) {
                throw SourceFailure::because(
                    "Cannot read {$url->label()}: it is larger than HTTP_SOURCE_MAX_MEGABYTES allows. Nothing of it is stored.",
                );
            }
            if (@fwrite($stream, $content) !== strlen($content)) {
                throw SourceFailure::because(
                    "Cannot read {$url->label()}: no room for it in $this->folder. Nothing of it is stored.",
                );
            }
        }
        rewind($stream);

        return new Download($stream, $bytes, Transfer::entityTag($response->getHeaders(false)));
    }

    /**
     * A file without a name: a run that is killed leaves nothing behind.
     *
     * @return resource
     * @throws SourceFailure
     */
    private function openUnnamed(): mixed
    {
        $path = "$this->folder/.download-" . getmypid();
        $stream = @fopen($path, 'w+b');
        if ($stream === false) {
            throw SourceFailure::because("Cannot write into $this->folder, where what is downloaded lies.");
        }
        unlink($path);

        return $stream;
    }

    private static function refusal(ResponseInterface $response, HttpUrl $url): HttpPause|SourceFailure
    {
        $status = $response->getStatusCode();
        $headers = $response->getHeaders(false);
        $seconds = RetryAfter::seconds($headers);
        if ($seconds > 0 && in_array($status, [429, 503], true)) {
            return HttpPause::because($url, $status, $seconds);
        }
        $advice = match (true) {
            $status === 401 || $status === 403
                => ' Name its host and credentials in HTTP_SOURCE_AUTHORIZATION.',
            $status >= 300 && $status < 400 && isset($headers['location'])
                => ' It redirects: put the address that it leads to into SOURCES.',
            default => '',
        };

        return SourceFailure::because("Cannot read {$url->label()}: the server answers $status.$advice");
    }
}
