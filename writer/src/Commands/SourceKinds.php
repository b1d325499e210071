<?php

declare(strict_types=1);

namespace TrendVault\Writer\Commands;

use TrendVault\Writer\Sources\Edge\EdgeUrl;
use TrendVault\Writer\Sources\Http\HttpUrl;
use TrendVault\Writer\Sources\PeerTube\InstanceUrl;

/** What may be said in public of where counts come from: kinds and hosts, without keys and paths. */
final readonly class SourceKinds
{
    private const string YOUTUBE_HOST = 'www.googleapis.com';

    /**
     * @param list<string> $sources as in SOURCES
     * @return list<array{kind: string, host: ?string}> each once
     */
    public static function of(array $sources): array
    {
        return array_values(array_unique(array_map(self::kind(...), $sources), SORT_REGULAR));
    }

    /** For metrics, such as youtube, spool or peertube:tube.example: without keys and paths. */
    public static function label(string $source): string
    {
        ['kind' => $kind, 'host' => $host] = self::kind($source);

        return match (true) {
            str_starts_with($source, 'spool:') => 'spool',
            $kind === 'youtube', $host === null => $kind,
            default => "$kind:$host",
        };
    }

    /** @return array{kind: string, host: ?string} */
    private static function kind(string $source): array
    {
        return match (true) {
            $source === 'demo' => ['kind' => 'demo', 'host' => null],
            $source === 'youtube' => ['kind' => 'youtube', 'host' => self::YOUTUBE_HOST],
            str_starts_with($source, EdgeUrl::PREFIX) => [
                'kind' => 'edge',
                'host' => parse_url(substr($source, strlen(EdgeUrl::PREFIX)), PHP_URL_HOST) ?: null,
            ],
            str_starts_with($source, HttpUrl::PREFIX) => [
                'kind' => 'http',
                'host' => parse_url(substr($source, strlen(HttpUrl::PREFIX)), PHP_URL_HOST) ?: null,
            ],
            InstanceUrl::isNamed($source) => [
                'kind' => 'peertube',
                'host' => parse_url(substr($source, strlen(InstanceUrl::PREFIX)), PHP_URL_HOST) ?: null,
            ],
            default => ['kind' => 'ndjson', 'host' => null],
        };
    }
}
