<?php

declare(strict_types=1);

namespace TrendVault\Writer\Tests\Contract;

use PHPUnit\Framework\Attributes\DataProvider;
use PHPUnit\Framework\Attributes\Test;
use PHPUnit\Framework\TestCase;

/** A site in PHP verifies tokens with sodium alone: these are its steps, without the form that ours have. */
final class TokenVectorsTest extends TestCase
{
    /** @param array{token: string, signature: bool, ...} $vector */
    #[Test]
    #[DataProvider('vectors')]
    public function sodium_judges_the_signature_as_the_vector_says(array $vector): void
    {
        self::assertSame($vector['signature'], self::isSigned($vector['token']));
    }

    /** @return iterable<string, array{array<string, mixed>}> */
    public static function vectors(): iterable
    {
        foreach (self::file()['vectors'] as $vector) {
            if (isset($vector['signature'])) {
                yield $vector['name'] => [$vector];
            }
        }
    }

    private static function isSigned(string $token): bool
    {
        $parts = explode('.', $token);
        $header = json_decode(self::decode($parts[0]), true);
        if (count($parts) !== 3 || ($header['alg'] ?? null) !== 'EdDSA') {
            return false;
        }
        foreach (self::file()['keys'] as ['kid' => $kid, 'x' => $x, 'purpose' => $purpose]) {
            if ($kid === $header['kid'] && $purpose === 'tokens') {
                return self::verify(self::decode($parts[2]), "$parts[0].$parts[1]", self::decode($x));
            }
        }

        return false;
    }

    private static function verify(string $signature, string $text, string $publicKey): bool
    {
        return strlen($signature) === SODIUM_CRYPTO_SIGN_BYTES &&
            sodium_crypto_sign_verify_detached($signature, $text, $publicKey);
    }

    private static function decode(string $base64url): string
    {
        return (string) base64_decode(strtr($base64url, '-_', '+/'));
    }

    /** @return array{keys: list<array<string, string>>, vectors: list<array<string, mixed>>} */
    private static function file(): array
    {
        return json_decode(
            (string) file_get_contents(dirname(__DIR__, 3) . '/contract/token-vectors.json'),
            true,
        );
    }
}
