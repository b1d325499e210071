<?php

declare(strict_types=1);

namespace TrendVault\Writer\Publication;

use TrendVault\Writer\Time\Rfc3339;

/** The signed document that names the newest generation file of a store; contract/pointer.ts describes it. */
final readonly class Pointer
{
    private const string CONTEXT = "trendvault pointer v2\n";
    private const string FORM =
        '~^\{"version":2,"store":"(' .
        PointerReader::STORE_NAME .
        ')","generation":([1-9][0-9]{0,14}),"published_at":"([0-9TZ:-]{20})","file":\{"sha256":"([A-Za-z0-9_-]{43})","bytes":([1-9][0-9]{0,14})\},"previous":(?:null|\{"generation":([1-9][0-9]{0,14}),"sha256":"([A-Za-z0-9_-]{43})"\}),"kid":"[A-Za-z0-9_-]{8}","signature":"[A-Za-z0-9_-]{86}"\}$~D';

    private function __construct(
        /** How its store is called. */
        public string $store,
        public int $generation,
        /** UTC seconds: when it was signed. */
        public int $publishedAt,
        /** Of the generation file as stored; base64url. */
        public string $fileHash,
        public int $fileBytes,
        public ?int $previousGeneration,
        public ?string $previousHash,
        /** Its bytes. */
        public string $text,
    ) {}

    /**
     * @param string $fileHash base64url of the SHA-256 of the generation file as stored
     * @param int $now UTC seconds
     */
    public static function sign(
        SigningKeys $keys,
        string $store,
        int $generation,
        string $fileHash,
        int $fileBytes,
        ?self $previous,
        int $now,
    ): self {
        $text = SignedText::of($keys, self::CONTEXT, [
            'version' => 2,
            'store' => $store,
            'generation' => $generation,
            'published_at' => Rfc3339::format($now),
            'file' => ['sha256' => $fileHash, 'bytes' => $fileBytes],
            'previous' =>
                $previous === null
                    ? null
                    : ['generation' => $previous->generation, 'sha256' => $previous->hash()],
        ]);

        return new self(
            $store,
            $generation,
            $now,
            $fileHash,
            $fileBytes,
            $previous?->generation,
            $previous?->hash(),
            $text,
        );
    }

    public static function read(string $text, PointerReader $reader): self|PointerVerdict
    {
        $pointer = self::parse($text);

        return $pointer === null
            ? SignedText::whyNotRead($text)
            : $reader->verdict($text, self::CONTEXT, $pointer->store) ?? $pointer;
    }

    /** Null when it is not a pointer. The signature is not verified. */
    public static function parse(string $text): ?self
    {
        if (strlen($text) > SignedText::MOST_BYTES || preg_match(self::FORM, $text, $match) !== 1) {
            return null;
        }
        [, $store, $generation, $publishedAt, $hash, $bytes] = $match;
        $previous = $match[6] ?? null;
        $hashes = [$hash, ...$previous === null ? [] : [$match[7]]];
        $isPossible =
            SignedText::isTime($publishedAt) &&
            array_all($hashes, static fn(string $hash): bool => Base64Url::decode($hash) !== null) &&
            (int) $previous < (int) $generation;

        return $isPossible
            ? new self(
                $store,
                (int) $generation,
                (int) Rfc3339::parse($publishedAt),
                $hash,
                (int) $bytes,
                $previous === null ? null : (int) $previous,
                $match[7] ?? null,
                $text,
            )
            : null;
    }

    /** What `previous` of the next one has: base64url of the SHA-256 of its bytes. */
    public function hash(): string
    {
        return Base64Url::encode(hash('sha256', $this->text, true));
    }

    /** Whether it was made to come directly after another one; null for the first of a store. */
    public function follows(?self $other): bool
    {
        return $this->previousGeneration === $other?->generation && $this->previousHash === $other?->hash();
    }

    /** Where its generation file is in the store. */
    public function fileKey(): string
    {
        return "generations/$this->generation-$this->fileHash.db.gz";
    }

    /** Where it is in the store for ever; current.json is a copy of the newest one. */
    public function key(): string
    {
        return self::keyOf($this->generation);
    }

    public static function keyOf(int $generation): string
    {
        return "pointers/$generation.json";
    }
}
