<?php

declare(strict_types=1);

namespace TrendVault\Writer\Sources\PeerTube;

use TrendVault\Writer\Sources\Loopback;
use TrendVault\Writer\Sources\SourceFailure;

/** An instance as SOURCES has it: `peertube:https://tube.example`, and perhaps the regions of its views: `#DE+AT`. */
final readonly class InstanceUrl
{
    public const string PREFIX = 'peertube:';

    private const string URL = '~^(https?)://(\[[0-9a-f:]+\]|[a-z0-9.-]+)(:[0-9]{1,5})?/?(?:#([a-z+]+))?$~Di';
    /** So that a channel's name has room beside it. */
    private const int MOST_HOST_BYTES = 100;
    private const string BY_LANGUAGE = 'language';

    /**
     * @param string $url scheme, host and port
     * @param string $host with its port, where that is not the usual one, as PeerTube writes it
     * @param bool $byLanguage whether a video counts where its language is spoken
     * @param list<string> $regions codes: of all videos, or with $byLanguage of those whose language no region speaks
     */
    private function __construct(
        public string $url,
        public string $host,
        public bool $byLanguage,
        public array $regions,
    ) {}

    public static function isNamed(string $name): bool
    {
        return str_starts_with($name, self::PREFIX);
    }

    /** @throws SourceFailure */
    public static function read(string $name): self
    {
        $text = substr($name, strlen(self::PREFIX));
        if (preg_match(self::URL, $text, $match) !== 1 || strlen($match[2]) > self::MOST_HOST_BYTES) {
            throw SourceFailure::because(
                "Cannot read $name: expected peertube: and the address of an instance without a path, and perhaps regions, for example peertube:https://tube.example or peertube:https://tube.example#DE+AT.",
            );
        }
        if (!Loopback::allows($match[1], $match[2])) {
            throw SourceFailure::because(
                "Cannot read $name: expected https. http is for this machine only: localhost, 127.0.0.1 and [::1].",
            );
        }
        $host = strtolower($match[2] . ($match[3] ?? ''));
        $words = array_values(array_unique(array_filter(explode('+', $match[4] ?? self::BY_LANGUAGE))));
        $named = array_values(array_diff($words, [self::BY_LANGUAGE]));

        return new self(strtolower($match[1]) . "://$host", $host, $named !== $words, $named);
    }
}
