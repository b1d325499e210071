<?php

declare(strict_types=1);

namespace TrendVault\Writer\Sources\Edge;

use TrendVault\Writer\Sources\Loopback;
use TrendVault\Writer\Sources\SourceFailure;

/** The address of the edge as SOURCES has it: `edge:https://lists.example`. */
final readonly class EdgeUrl
{
    public const string PREFIX = 'edge:';

    /** Scheme, host and port, without anything behind: what is signed is the path, so there is none of the operator's. */
    private const string URL = '~^(https?)://(\[[0-9a-f:]+\]|[a-z0-9.-]+)(:[0-9]{1,5})?/?$~Di';

    /** @throws SourceFailure */
    public static function read(string $name): string
    {
        $url = substr($name, strlen(self::PREFIX));
        if (preg_match(self::URL, $url, $match) !== 1) {
            throw SourceFailure::because(
                "Cannot read $name: expected edge: and an https address without a path, for example edge:https://lists.example.",
            );
        }

        return Loopback::allows($match[1], $match[2])
            ? rtrim($url, '/')
            : throw SourceFailure::because(
                "Cannot read $name: expected https. http is for this machine only: localhost, 127.0.0.1 and [::1].",
            );
    }
}
