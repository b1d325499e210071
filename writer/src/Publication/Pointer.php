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

/** What a pointer must be to be one of this writer's: signed with one of its keys, for its store. */
final readonly class PointerReader
{
    /** How a store may be called; contract/pointer.ts has the same. */
    public const string STORE_NAME = '[A-Za-z0-9][A-Za-z0-9._/-]{0,99}';

    public function __construct(
        public PublicKeys $keys,
        /** How the store is called in its pointers. */
        public string $store,
    ) {}

    public static function isStoreName(string $text): bool
    {
        return preg_match('~^' . self::STORE_NAME . '$~D', $text) === 1;
    }

    /** @return ?PointerVerdict null when a document that names a store is one of ours */
    public function verdict(string $text, string $context, string $store): ?PointerVerdict
    {
        return SignedText::verdict($text, $context, $this->keys) ??
            ($store === $this->store ? null : PointerVerdict::OtherStore);
    }
}

/** Why a document is not taken as a pointer; the words are those of contract/pointer.ts. */
enum PointerVerdict: string
{
    case Malformed = 'malformed';
    /** Another program wrote it, which this one cannot read. */
    case OtherVersion = 'other-version';
    case UnknownKey = 'unknown-key';
    case Tampered = 'tampered';
    /** Signed for a store of another name. */
    case OtherStore = 'other-store';

    public function sentence(): string
    {
        return match ($this) {
            self::Malformed => 'it is not a pointer',
            self::OtherVersion => 'another version of TrendVault has written it',
            self::UnknownKey => 'it is signed by a key that is not in PUBLISH_SIGNING_KEYS',
            self::Tampered => 'its signature is wrong',
            self::OtherStore
                => 'it is signed for a store of another name than PUBLISH_NAME, or else PUBLISH_URL, says',
        };
    }
}

/**
 * Documents of one line of JSON that end with a key's id and a signature of what stands before it, after a line that
 * says which kind of document it is.
 */
final readonly class SignedText
{
    public const int MOST_BYTES = 500;

    private const string SIGNATURE = ',"signature":"';
    private const string OTHER_VERSION = '~^\{"version":(?!2,)[0-9]{1,9},~';

    /** @param array<string, mixed> $members without the last two */
    public static function of(SigningKeys $keys, string $context, array $members): string
    {
        $json = json_encode([...$members, 'kid' => $keys->kid], JSON_THROW_ON_ERROR | JSON_UNESCAPED_SLASHES);
        $unsigned = substr($json, 0, -1);

        return $unsigned . self::SIGNATURE . Base64Url::encode($keys->sign($context . $unsigned)) . '"}';
    }

    /**
     * Of a document that has the form of its kind.
     *
     * @return ?PointerVerdict null when it is valid
     */
    public static function verdict(string $text, string $context, PublicKeys $keys): ?PointerVerdict
    {
        $end = (int) strrpos($text, self::SIGNATURE);
        $signature = Base64Url::decode(substr($text, $end + strlen(self::SIGNATURE), -2));
        $kid = substr($text, $end - 9, 8);

        return match (true) {
            $signature === null => PointerVerdict::Malformed,
            !$keys->has($kid) => PointerVerdict::UnknownKey,
            $keys->isSignedBy($kid, $context . substr($text, 0, $end), $signature) => null,
            default => PointerVerdict::Tampered,
        };
    }

    /** Whether it is a time as we write it, of a day that exists. */
    public static function isTime(string $text): bool
    {
        $time = Rfc3339::parse($text);

        return $time !== null && Rfc3339::format($time) === $text;
    }

    public static function whyNotRead(string $text): PointerVerdict
    {
        return strlen($text) <= self::MOST_BYTES && preg_match(self::OTHER_VERSION, $text) === 1
            ? PointerVerdict::OtherVersion
            : PointerVerdict::Malformed;
    }
}
