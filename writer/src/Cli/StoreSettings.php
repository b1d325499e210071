<?php

declare(strict_types=1);

namespace TrendVault\Writer\Cli;

use TrendVault\Writer\Sources\Loopback;
use TrendVault\Writer\Store\StoreAddress;

/** What the environment says about a store that speaks S3. */
final readonly class StoreSettings
{
    private const string REGION = '/^[a-z0-9-]{1,40}$/D';

    /**
     * @param string $name of the setting with the address: PUBLISH or BACKUP
     * @throws UsageError
     */
    public static function address(Settings $settings, string $name, string $url): StoreAddress
    {
        $endpoint = self::required($settings->sourceText('S3_ENDPOINT'), 'S3_ENDPOINT', $name);
        if (!StoreAddress::isEndpoint($endpoint)) {
            throw UsageError::setting(
                'S3_ENDPOINT',
                $endpoint,
                'scheme, host and perhaps a port, for example https://s3.eu-central-1.amazonaws.com',
            );
        }
        if (!self::isSafe($endpoint)) {
            throw UsageError::setting(
                'S3_ENDPOINT',
                $endpoint,
                'https. Plain http is for this machine only: localhost, 127.0.0.1 and [::1]',
            );
        }
        $region = $settings->sourceText('S3_REGION') ?? 'auto';
        if (preg_match(self::REGION, $region) !== 1) {
            throw UsageError::setting(
                'S3_REGION',
                $region,
                'a region of the store, for example auto or eu-central-1',
            );
        }

        return StoreAddress::read(
            $url,
            $endpoint,
            $region,
            self::required(KeyFile::text($settings, 'S3_ACCESS_KEY_ID'), 'S3_ACCESS_KEY_ID', $name),
            self::required(KeyFile::text($settings, 'S3_SECRET_ACCESS_KEY'), 'S3_SECRET_ACCESS_KEY', $name),
        ) ?? throw UsageError::setting($name, $url, StoreAddress::URL_EXPECTED);
    }

    /** Signed requests show what is stored, and to whom, when they travel without TLS. */
    private static function isSafe(string $endpoint): bool
    {
        preg_match('~^(https?)://(\[[^]]+\]|[^:/]+)~i', $endpoint, $match);

        return Loopback::allows($match[1], $match[2]);
    }

    private static function required(?string $value, string $name, string $because): string
    {
        return $value ??
            throw UsageError::because(
                "$because is set, but $name is not. docs/operations.md says what a store needs.",
            );
    }
}
