<?php

declare(strict_types=1);

namespace TrendVault\Writer\Publication;

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
            self::UnknownKey => 'it is signed by a key that is not in PUBLISH_SIGNING_KEY',
            self::Tampered => 'its signature is wrong',
            self::OtherStore
                => 'it is signed for a store of another name than PUBLISH_NAME, or else PUBLISH, says',
        };
    }
}
