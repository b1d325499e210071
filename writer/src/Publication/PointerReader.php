<?php

declare(strict_types=1);

namespace TrendVault\Writer\Publication;

/** What a pointer must be to be one of this writer's: signed with one of its keys, for its store. */
final readonly class PointerReader
{
    /** How a store may be called; contract/store-names.ts has the same. */
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
