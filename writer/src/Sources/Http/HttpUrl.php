<?php

declare(strict_types=1);

namespace TrendVault\Writer\Sources\Http;

use TrendVault\Writer\Sources\Loopback;
use TrendVault\Writer\Sources\SourceFailure;

/** The address of a file of NDJSON as SOURCES has it: `http:https://stats.example/views.ndjson`. */
final readonly class HttpUrl
{
    public const string PREFIX = 'http:';

    /** A comma separates sources, a fragment is never sent, and a user's name would be in logs. */
    private const string URL = '~^(https?)://(\[[0-9a-f:]+\]|[a-z0-9.-]+)(:[0-9]{1,5})?([/?][!"$-+\--;=?-_a-\~%]*)?$~Di';
    private const string EXAMPLE = 'http:https://stats.example/views.ndjson';

    private function __construct(public string $url, public string $host) {}

    /** @throws SourceFailure */
    public static function read(string $name): self
    {
        $url = substr($name, strlen(self::PREFIX));
        if (preg_match(self::URL, $url, $match) !== 1) {
            throw SourceFailure::because(
                'Cannot read ' .
                    self::withoutSecrets($name) .
                    ': expected http: and an address without a user, for example ' .
                    self::EXAMPLE .
                    '. Write a comma as %2C.',
            );
        }
        if (!Loopback::allows($match[1], $match[2])) {
            throw SourceFailure::because(
                'Cannot read ' .
                    self::withoutSecrets($name) .
                    ': expected https. Plain http is for this machine only: localhost, 127.0.0.1 and [::1].',
            );
        }

        return new self($url, strtolower($match[2] . ($match[3] ?? '')));
    }

    /** For people and file names: a query may have a key in it, a path may be long. */
    public function label(): string
    {
        return self::withoutSecrets($this->url);
    }

    private static function withoutSecrets(string $url): string
    {
        return (string) preg_replace(['~//[^/?#]*@~', '~[?#].*~s'], ['//', ''], $url);
    }
}
