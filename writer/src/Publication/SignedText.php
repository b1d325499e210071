<?php

declare(strict_types=1);

namespace TrendVault\Writer\Publication;

use TrendVault\Writer\Time\Rfc3339;

/**
 * Documents of one line of JSON that end with a key's id and a signature of what stands before it, after a line that
 * says which kind of document it is.
 */
final readonly class SignedText
{
    public const int MOST_BYTES = 500;

    private const string SIGNATURE = ',"signature":"';
    private const string OTHER_VERSION = '~^\{"version":(?!2,)[0-9]{1,9},~';

    /** @param array<string, mixed> $members without the last two */
    public static function of(SigningKeys $keys, string $context, array $members): string
    {
        $json = json_encode([...$members, 'kid' => $keys->kid], JSON_THROW_ON_ERROR | JSON_UNESCAPED_SLASHES);
        $unsigned = substr($json, 0, -1);

        return $unsigned . self::SIGNATURE . Base64Url::encode($keys->sign($context . $unsigned)) . '"}';
    }

    /**
     * Of a document that has the form of its kind.
     *
     * @return ?PointerVerdict null when it is valid
     */
    public static function verdict(string $text, string $context, PublicKeys $keys): ?PointerVerdict
    {
        $end = (int) strrpos($text, self::SIGNATURE);
        $signature = Base64Url::decode(substr($text, $end + strlen(self::SIGNATURE), -2));
        $kid = substr($text, $end - 9, 8);

        return match (true) {
            $signature === null => PointerVerdict::Malformed,
            !$keys->has($kid) => PointerVerdict::UnknownKey,
            $keys->isSignedBy($kid, $context . substr($text, 0, $end), $signature) => null,
            default => PointerVerdict::Tampered,
        };
    }

    /** Whether it is a time as we write it, of a day that exists. */
    public static function isTime(string $text): bool
    {
        $time = Rfc3339::parse($text);

        return $time !== null && Rfc3339::format($time) === $text;
    }

    public static function whyNotRead(string $text): PointerVerdict
    {
        return strlen($text) <= self::MOST_BYTES && preg_match(self::OTHER_VERSION, $text) === 1
            ? PointerVerdict::OtherVersion
            : PointerVerdict::Malformed;
    }
}
