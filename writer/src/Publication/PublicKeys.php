<?php

declare(strict_types=1);

namespace TrendVault\Writer\Publication;

/** The public halves of the keys that sign pointers (Ed25519, RFC 8032), by id. */
final readonly class PublicKeys
{
    /** @param array<string, list<string>> $keys 32 bytes each, by id */
    public function __construct(private array $keys) {}

    /** The first 8 characters of the JWK thumbprint (RFC 7638). */
    public static function idOf(string $publicKey): string
    {
        $thumbprint = hash(
            'sha256',
            '{"crv":"Ed25519","kty":"OKP","x":"' . Base64Url::encode($publicKey) . '"}',
            true,
        );

        return substr(Base64Url::encode($thumbprint), 0, 8);
    }

    /** @param list<string> $publicKeys 32 bytes each */
    public static function of(array $publicKeys): self
    {
        $keys = [];
        foreach ($publicKeys as $key) {
            $keys[self::idOf($key)][] = $key;
        }

        return new self($keys);
    }

    public function has(string $kid): bool
    {
        return isset($this->keys[$kid]);
    }

    /** @param string $signature 64 bytes */
    public function isSignedBy(string $kid, string $text, string $signature): bool
    {
        return array_any(
            $this->keys[$kid] ?? [],
            static fn(string $key): bool => sodium_crypto_sign_verify_detached($signature, $text, $key),
        );
    }

    /** A JWK Set (RFC 7517, RFC 8037) for those who read the store. */
    public function jwks(): string
    {
        $described = [];
        foreach ($this->keys as $kid => $keys) {
            foreach ($keys as $key) {
                $described[] = [
                    'kty' => 'OKP',
                    'crv' => 'Ed25519',
                    'kid' => (string) $kid,
                    'x' => Base64Url::encode($key),
                    'use' => 'sig',
                    'alg' => 'EdDSA',
                    'purpose' => 'publications',
                ];
            }
        }

        return json_encode(['keys' => $described], JSON_THROW_ON_ERROR);
    }
}
