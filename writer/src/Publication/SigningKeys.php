<?php

declare(strict_types=1);

namespace TrendVault\Writer\Publication;

use SensitiveParameter;

/** The keys of PUBLISH_SIGNING_KEYS: the first signs, what any of them has signed is taken. */
final readonly class SigningKeys
{
    /**
     * @param string $kid of the key that signs
     * @param string $secretKey 64 bytes
     */
    private function __construct(
        public string $kid,
        #[SensitiveParameter] private string $secretKey,
        public PublicKeys $publicKeys,
    ) {}

    /**
     * @param string $text seeds of 32 bytes as base64url, comma-separated
     * @return ?self null when one of them is something else
     */
    public static function read(#[SensitiveParameter] string $text): ?self
    {
        $pairs = [];
        foreach (explode(',', $text) as $entry) {
            $seed = Base64Url::decode(trim($entry)) ?? '';
            if (
                strlen($seed) !== SODIUM_CRYPTO_SIGN_SEEDBYTES ||
                $seed === str_repeat($seed[0], strlen($seed))
            ) {
                return null;
            }
            $pairs[] = sodium_crypto_sign_seed_keypair($seed);
        }
        $public = array_map(sodium_crypto_sign_publickey(...), $pairs);

        return new self(
            PublicKeys::idOf($public[0]),
            sodium_crypto_sign_secretkey($pairs[0]),
            PublicKeys::of($public),
        );
    }

    /** @return string 64 bytes */
    public function sign(string $text): string
    {
        return sodium_crypto_sign_detached($text, $this->secretKey);
    }
}

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
                    'kid' => "$kid",
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
