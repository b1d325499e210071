<?php

declare(strict_types=1);

namespace TrendVault\Writer\Sources\Edge;

use SensitiveParameter;
use TrendVault\Writer\Sources\SourceFailure;

/** Reads VIEWS_KEYS, "k2:<base64url>,k1:<base64url>", as contract/key-ring.ts does. The first key signs. */
final readonly class KeyRing
{
    private const string ENTRY = '/^([A-Za-z0-9]{1,16}):([A-Za-z0-9_-]+)$/D';
    /** As long as the output of SHA-256 (RFC 2104, section 3). */
    private const int SHORTEST_BYTES = 32;

    private function __construct(public string $keyId, #[SensitiveParameter] public string $key) {}

    /** @throws SourceFailure that does not quote the key */
    public static function read(#[SensitiveParameter] string $text): self
    {
        $entry = trim(explode(',', $text)[0]);
        $key =
            preg_match(self::ENTRY, $entry, $match) === 1
                ? base64_decode(strtr($match[2], '-_', '+/'), true)
                : false;

        return $key !== false && strlen($key) >= self::SHORTEST_BYTES
            ? new self($match[1], $key)
            : throw SourceFailure::because(
                'Cannot read VIEWS_KEYS: expected id:key, a key id of 1 to 16 letters or digits and base64url of at least 32 random bytes, as the edge has it.',
            );
    }
}
