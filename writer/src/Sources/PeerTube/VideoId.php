<?php

declare(strict_types=1);

namespace TrendVault\Writer\Sources\PeerTube;

/** The id of a video here: PeerTube's short one and the host, so that no instance can claim a video of another. */
final readonly class VideoId
{
    /** PeerTube's short form of a UUID: base 58. */
    public const string SHORT = '/^[1-9A-HJ-NP-Za-km-z]{16,24}$/D';

    private const int MOST_CHARACTERS = 64;
    private const int HASH_CHARACTERS = 32;

    /**
     * @param string $short as SHORT says
     * @param string $host with its port; a long one is hashed, behind a mark that no host begins with
     */
    public static function of(string $short, string $host): string
    {
        $id = "$short~" . str_replace(['[', ']'], '', $host);

        return strlen($id) <= self::MOST_CHARACTERS
            ? $id
            : "$short~~" . substr(hash('sha256', $host), 0, self::HASH_CHARACTERS);
    }
}
