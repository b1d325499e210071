<?php

declare(strict_types=1);

namespace TrendVault\Writer\Store;

use SensitiveParameter;

/** Where a store is and who asks: `s3://bucket/prefix`, at an endpoint that speaks S3. */
final readonly class StoreAddress
{
    public const string URL_EXPECTED = 's3://, a bucket of 3 to 63 characters and perhaps a prefix, for example s3://lists/production';

    private const string URL = '~^s3://([a-z0-9][a-z0-9.-]{1,61}[a-z0-9])((?:/[A-Za-z0-9._-]+)*)/?$~D';
    private const string ENDPOINT = '~^https?://(?:\[[0-9a-f:]+\]|[a-z0-9.-]+)(?::[0-9]{1,5})?/?$~Di';

    private function __construct(
        public string $endpoint,
        public string $bucket,
        /** With a slash at its end, or empty. */
        public string $prefix,
        public string $region,
        #[SensitiveParameter] public string $accessKeyId,
        #[SensitiveParameter] public string $secretAccessKey,
    ) {}

    /**
     * @param string $endpoint scheme, host and port
     * @return ?self null when $url is not such an address
     */
    public static function read(
        string $url,
        string $endpoint,
        string $region,
        #[SensitiveParameter] string $accessKeyId,
        #[SensitiveParameter] string $secretAccessKey,
    ): ?self {
        if (preg_match(self::URL, $url, $match) !== 1 || preg_match('~/\.\.?(?:/|$)~', $match[2]) === 1) {
            return null;
        }
        $prefix = $match[2] === '' ? '' : substr($match[2], 1) . '/';

        return new self(rtrim($endpoint, '/'), $match[1], $prefix, $region, $accessKeyId, $secretAccessKey);
    }

    public static function isEndpoint(string $text): bool
    {
        return preg_match(self::ENDPOINT, $text) === 1;
    }

    /** As in settings and messages; without what is secret. */
    public function name(): string
    {
        return rtrim("s3://$this->bucket/$this->prefix", '/');
    }

    /**
     * @param string $key relative to the prefix; null for the bucket itself
     * @param array<string, string> $query
     */
    public function url(?string $key, array $query = []): string
    {
        $path =
            $key === null
                ? ''
                : '/' . implode('/', array_map(rawurlencode(...), explode('/', $this->prefix . $key)));
        ksort($query, SORT_STRING);
        $pairs = array_map(
            static fn(string $name, string $value): string => "$name=" . rawurlencode($value),
            array_keys($query),
            $query,
        );

        return "$this->endpoint/$this->bucket$path" . ($pairs === [] ? '' : '?' . implode('&', $pairs));
    }
}
