<?php

declare(strict_types=1);

namespace TrendVault\Writer\Publication;

/** Base64url without padding (RFC 4648, section 5). */
final readonly class Base64Url
{
    public static function encode(string $bytes): string
    {
        return rtrim(strtr(base64_encode($bytes), '+/', '-_'), '=');
    }

    /** Null when it is something else, or not as an encoder writes it. */
    public static function decode(string $text): ?string
    {
        $bytes = base64_decode(strtr($text, '-_', '+/'), true);

        return $bytes !== false && self::encode($bytes) === $text ? $bytes : null;
    }
}
