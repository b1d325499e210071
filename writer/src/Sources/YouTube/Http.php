<?php

declare(strict_types=1);

namespace TrendVault\Writer\Sources\YouTube;

use CurlHandle;
use TrendVault\Writer\Sources\SourceFailure;

/** GET over one kept connection. */
final readonly class Http
{
    private const int MOST_BYTES = 8 * 1024 * 1024;

    private CurlHandle $curl;

    /** @throws SourceFailure when PHP has no curl */
    public function __construct()
    {
        $this->curl = function_exists('curl_init')
            ? curl_init()
            : throw SourceFailure::because(
                'Cannot read youtube: PHP\'s curl extension is missing. Install php8.4-curl, or run bin/setup.',
            );
    }

    /**
     * @param list<string> $headers
     * @throws NoAnswer
     */
    public function get(string $url, array $headers, float $timeoutSeconds): HttpResponse
    {
        [$body, $received] = ['', []];
        curl_reset($this->curl);
        curl_setopt_array($this->curl, [
            CURLOPT_URL => $url,
            CURLOPT_HTTPHEADER => $headers,
            CURLOPT_PROTOCOLS_STR => 'https,http',
            CURLOPT_ENCODING => '',
            CURLOPT_TIMEOUT_MS => max(1, (int) ($timeoutSeconds * 1000)),
            CURLOPT_NOSIGNAL => true,
            CURLOPT_HEADERFUNCTION => static function (CurlHandle $curl, string $line) use (&$received): int {
                [$name, $value] = [...explode(':', $line, 2), ''];
                $received[strtolower(trim($name))] = trim($value);

                return strlen($line);
            },
            CURLOPT_WRITEFUNCTION => static function (CurlHandle $curl, string $bytes) use (&$body): int {
                $body .= $bytes;

                return strlen($body) <= self::MOST_BYTES ? strlen($bytes) : 0;
            },
        ]);

        return curl_exec($this->curl) === false
            ? throw new NoAnswer(curl_strerror(curl_errno($this->curl)) ?? 'unknown error')
            : new HttpResponse(curl_getinfo($this->curl, CURLINFO_RESPONSE_CODE), $received, $body);
    }
}
