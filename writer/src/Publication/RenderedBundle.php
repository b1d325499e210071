<?php

declare(strict_types=1);

namespace TrendVault\Writer\Publication;

/** What the renderer says about the bundle that it has written. Hashes are base64url. */
final readonly class RenderedBundle
{
    public function __construct(
        public int $generation,
        public int $documents,
        public int $bytes,
        public string $hash,
        public int $indexBytes,
        public string $indexHash,
    ) {}

    /** @return ?self null when the line is something else */
    public static function read(string $line): ?self
    {
        $said = json_decode($line, true);
        $isOne =
            is_array($said) &&
            array_all(
                ['generation', 'documents', 'bytes', 'index_bytes'],
                static fn(string $name): bool => is_int($said[$name] ?? null) && $said[$name] > 0,
            ) &&
            array_all(
                ['sha256', 'index_sha256'],
                static fn(string $name): bool => is_string($said[$name] ?? null) &&
                    strlen((string) Base64Url::decode($said[$name])) === 32,
            );

        return $isOne
            ? new self(
                $said['generation'],
                $said['documents'],
                $said['bytes'],
                $said['sha256'],
                $said['index_bytes'],
                $said['index_sha256'],
            )
            : null;
    }

    public function key(): string
    {
        return "bundles/$this->generation-$this->hash.bundle";
    }
}
