<?php

declare(strict_types=1);

namespace TrendVault\Writer\Tests\Contract;

use PHPUnit\Framework\Attributes\DataProvider;
use PHPUnit\Framework\Attributes\Test;
use PHPUnit\Framework\TestCase;
use TrendVault\Writer\Publication\Base64Url;
use TrendVault\Writer\Publication\BundlePointer;
use TrendVault\Writer\Publication\Pointer;
use TrendVault\Writer\Publication\PointerReader;
use TrendVault\Writer\Publication\PointerVerdict;
use TrendVault\Writer\Publication\PublicKeys;
use TrendVault\Writer\Publication\RenderedBundle;
use TrendVault\Writer\Publication\SigningKeys;
use TrendVault\Writer\Time\Rfc3339;

final class PointerVectorsTest extends TestCase
{
    private const string FILE = __DIR__ . '/../../../contract/pointer-vectors.json';

    /** @param array<string, mixed> $vector */
    #[Test]
    #[DataProvider('pointers')]
    public function a_pointer_is_judged_as_the_vector_says(array $vector, PointerReader $reader): void
    {
        $found = Pointer::read(self::text($vector), $reader);

        self::assertSame($vector['expect'], $found instanceof PointerVerdict ? $found->value : 'valid');
    }

    /** @param array<string, mixed> $vector */
    #[Test]
    #[DataProvider('bundlePointers')]
    public function a_bundle_pointer_is_judged_as_the_vector_says(array $vector, PointerReader $reader): void
    {
        $found = BundlePointer::read(self::text($vector), $reader);

        self::assertSame($vector['expect'], $found instanceof PointerVerdict ? $found->value : 'valid');
    }

    #[Test]
    public function signed_again_a_pointer_has_the_same_bytes(): void
    {
        $file = json_decode((string) file_get_contents(self::FILE), true, flags: JSON_THROW_ON_ERROR);
        $keys = SigningKeys::read($file['seeds'][0]);
        $texts = array_column($file['pointers'], 'text', 'name');
        $previous = null;
        foreach (['the first pointer of a store', 'the one after it'] as $name) {
            $pointer = Pointer::parse($texts[$name]);
            $signed = Pointer::sign(
                $keys,
                $file['store'],
                $pointer->generation,
                $pointer->fileHash,
                $pointer->fileBytes,
                $previous,
                $pointer->publishedAt,
            );
            self::assertSame($texts[$name], $signed->text);
            $previous = $pointer;
        }
        self::assertSame($file['names']['pointer'], $previous->key());
        self::assertSame($file['names']['generation_file'], $previous->fileKey());
    }

    #[Test]
    public function signed_again_a_bundle_pointer_has_the_same_bytes(): void
    {
        $file = json_decode((string) file_get_contents(self::FILE), true, flags: JSON_THROW_ON_ERROR);
        ['text' => $text, 'pointer' => $members] = $file['bundle_pointers'][0];
        $bundle = RenderedBundle::read(
            json_encode([...$members['bundle'], 'generation' => $members['generation'], 'documents' => 1]),
        );
        $signed = BundlePointer::sign(
            SigningKeys::read($file['seeds'][0]),
            $file['store'],
            $bundle,
            (int) Rfc3339::parse($members['published_at']),
        );

        self::assertSame($text, $signed->text);
    }

    /** @return iterable<string, array{array<string, mixed>, PointerReader}> */
    public static function pointers(): iterable
    {
        yield from self::vectors('pointers');
    }

    /** @return iterable<string, array{array<string, mixed>, PointerReader}> */
    public static function bundlePointers(): iterable
    {
        yield from self::vectors('bundle_pointers');
    }

    /** @return iterable<string, array{array<string, mixed>, PointerReader}> */
    private static function vectors(string $kind): iterable
    {
        $file = json_decode((string) file_get_contents(self::FILE), true, flags: JSON_THROW_ON_ERROR);
        $ours = array_filter(
            $file['keys'],
            static fn(array $key): bool => ($key['purpose'] ?? '') === 'publications',
        );
        $keys = PublicKeys::of(
            array_map(
                static fn(array $key): string => (string) Base64Url::decode($key['x']),
                array_values($ours),
            ),
        );
        foreach ($file[$kind] as $vector) {
            yield $vector['name'] => [$vector, new PointerReader($keys, $file['store'])];
        }
    }

    /** @param array<string, mixed> $vector */
    private static function text(array $vector): string
    {
        return $vector['text'] ?? (string) base64_decode($vector['base64']);
    }
}
