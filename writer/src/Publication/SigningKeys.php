<?php

declare(strict_types=1);

namespace TrendVault\Writer\Publication;

use SensitiveParameter;

/** The keys of PUBLISH_SIGNING_KEY: the first signs, what any of them has signed is taken. */
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
