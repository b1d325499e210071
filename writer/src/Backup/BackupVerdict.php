<?php

declare(strict_types=1);

namespace TrendVault\Writer\Backup;

/** What the signature in a backup's name proves. */
enum BackupVerdict
{
    case Proved;
    case Unsigned;
    case UnknownKey;
    case Forged;

    /** Whether it may be taken when somebody says so. */
    public function isUnproved(): bool
    {
        return $this === self::Unsigned || $this === self::UnknownKey;
    }

    /** The end of a sentence that begins with the backup's key. */
    public function describe(): string
    {
        return match ($this) {
            self::Proved => 'is signed by a key of PUBLISH_SIGNING_KEY',
            self::Unsigned
                => 'is not signed: it was made without PUBLISH_SIGNING_KEY, by a version before, or by somebody else',
            self::UnknownKey
                => 'names a key that is not in PUBLISH_SIGNING_KEY: it was made with one that was replaced, or by somebody else',
            self::Forged => 'is not what was signed',
        };
    }
}
