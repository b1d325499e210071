<?php

declare(strict_types=1);

namespace TrendVault\Writer\Tests\Token;

use PHPUnit\Framework\Attributes\DataProvider;
use PHPUnit\Framework\Attributes\Test;
use PHPUnit\Framework\TestCase;
use TrendVault\Writer\Token\TokenVerifier;

final class TokenVerifierTest extends TestCase
{
    /** @param array<string, string> $keys */
    #[Test]
    #[DataProvider('vectors')]
    public function a_token_is_judged_as_the_contract_says(
        string $token,
        array $keys,
        int $minute,
        string $expected,
    ): void {
        self::assertSame($expected, new TokenVerifier($keys)->verify($token, $minute)->value);
    }

    /** @return iterable<string, array{string, array<string, string>, int, string}> */
    public static function vectors(): iterable
    {
        $path = dirname(__DIR__, 3) . '/contract/token-vectors.json';
        $file = json_decode((string) file_get_contents($path), true, flags: JSON_THROW_ON_ERROR);
        $keys = array_map(
            static fn(string $key): string => (string) base64_decode(strtr($key, '-_', '+/'), true),
            array_column($file['keys'], 'key', 'kid'),
        );
        foreach ($file['vectors'] as $vector) {
            yield $vector['name'] => [
                $vector['token'],
                $keys,
                $vector['now_minute'] ?? $file['now_minute'],
                $vector['expect'],
            ];
        }
    }
}
