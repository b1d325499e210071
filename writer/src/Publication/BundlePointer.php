<?php

declare(strict_types=1);

namespace TrendVault\Writer\Publication;

use TrendVault\Writer\Time\Rfc3339;

/** The signed document that names the newest bundle of rendered documents; contract/pointer.ts describes it. */
final readonly class BundlePointer
{
    private const string CONTEXT = "trendvault bundle pointer v2\n";
    private const string FORM =
        '~^\{"version":2,"store":"(' .
        PointerReader::STORE_NAME .
        ')","generation":([1-9][0-9]{0,14}),"published_at":"([0-9TZ:-]{20})","bundle":\{"sha256":"([A-Za-z0-9_-]{43})","bytes":([1-9][0-9]{0,14}),"index_bytes":([1-9][0-9]{0,14}),"index_sha256":"([A-Za-z0-9_-]{43})"\},"kid":"[A-Za-z0-9_-]{8}","signature":"[A-Za-z0-9_-]{86}"\}$~D';

    private function __construct(
        /** How its store is called. */
        public string $store,
        public int $generation,
        /** Of the bundle; base64url. */
        public string $bundleHash,
        public string $text,
    ) {}

    /** @param int $now UTC seconds */
    public static function sign(SigningKeys $keys, string $store, RenderedBundle $bundle, int $now): self
    {
        $text = SignedText::of($keys, self::CONTEXT, [
            'version' => 2,
            'store' => $store,
            'generation' => $bundle->generation,
            'published_at' => Rfc3339::format($now),
            'bundle' => [
                'sha256' => $bundle->hash,
                'bytes' => $bundle->bytes,
                'index_bytes' => $bundle->indexBytes,
                'index_sha256' => $bundle->indexHash,
            ],
        ]);

        return new self($store, $bundle->generation, $bundle->hash, $text);
    }

    public static function read(string $text, PointerReader $reader): self|PointerVerdict
    {
        $pointer = self::parse($text);

        return $pointer === null
            ? SignedText::whyNotRead($text)
            : $reader->verdict($text, self::CONTEXT, $pointer->store) ?? $pointer;
    }

    /** Null when it is not such a pointer. The signature is not verified. */
    private static function parse(string $text): ?self
    {
        if (strlen($text) > SignedText::MOST_BYTES || preg_match(self::FORM, $text, $match) !== 1) {
            return null;
        }
        [, $store, $generation, $publishedAt, $hash, $bytes, $indexBytes, $indexHash] = $match;
        $isPossible =
            SignedText::isTime($publishedAt) &&
            Base64Url::decode($hash) !== null &&
            Base64Url::decode($indexHash) !== null &&
            (int) $indexBytes <= (int) $bytes;

        return $isPossible ? new self($store, (int) $generation, $hash, $text) : null;
    }

    public function key(): string
    {
        return "bundles/$this->generation.json";
    }
}
