<?php

declare(strict_types=1);

namespace TrendVault\Writer\Token;

use SensitiveParameter;

/**
 * Checks the analytics token that the origin puts into a list: was this served by us, for this market, about now?
 * For a PHP site that counts what it is sent; nothing in the writer needs it. Held to contract/token-vectors.json,
 * as the origin's own verifier is.
 */
final readonly class TokenVerifier
{
    private const string PATTERN = '/^(v1\.([A-Za-z0-9]{1,16})\.[A-Z]{2}\.(?:0|[1-9][0-9]{0,2})\.([1-9][0-9]{0,9}))\.([A-Za-z0-9_-]{22})$/D';
    private const int MAC_LENGTH = 22;
    private const int EARLIEST_MINUTES = 1;
    private const int LATEST_MINUTES = 15;

    /** @param array<string, string> $keys bytes by key id */
    public function __construct(#[SensitiveParameter] private array $keys) {}

    /** @param int $minute the verifier's clock: Unix time / 60, whole */
    public function verify(string $token, int $minute): Verdict
    {
        if (preg_match(self::PATTERN, $token, $part) !== 1) {
            return Verdict::Malformed;
        }
        [, $payload, $keyId, $tokenMinute, $mac] = $part;
        $key = $this->keys[$keyId] ?? null;

        return match (true) {
            $key === null => Verdict::UnknownKey,
            !hash_equals(self::mac($payload, $key), $mac) => Verdict::Tampered,
            $minute < (int) $tokenMinute - self::EARLIEST_MINUTES => Verdict::NotYetValid,
            $minute > (int) $tokenMinute + self::LATEST_MINUTES => Verdict::Expired,
            default => Verdict::Valid,
        };
    }

    private static function mac(string $payload, #[SensitiveParameter] string $key): string
    {
        return substr(
            strtr(base64_encode(hash_hmac('sha256', $payload, $key, true)), '+/', '-_'),
            0,
            self::MAC_LENGTH,
        );
    }
}
