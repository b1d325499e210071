<?php

declare(strict_types=1);

namespace TrendVault\Writer\Sources;

/** The hosts that are this machine: to all others, requests are never sent without TLS. */
final readonly class Loopback
{
    private const string HOSTS = '~^(localhost|127\.[0-9.]+|\[::1\])$~D';

    public static function allows(string $scheme, string $host): bool
    {
        return strtolower($scheme) === 'https' || preg_match(self::HOSTS, strtolower($host)) === 1;
    }
}
