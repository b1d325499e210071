<?php

declare(strict_types=1);

namespace TrendVault\Writer\Backup;

/** The key of a backup in the store: when it was begun, and the hash of what is stored. */
final readonly class BackupName
{
    public const string FOLDER = 'backups/';

    private const string FORM = '~^backups/([0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{6}Z)-([A-Za-z0-9_-]{43})\.db\.gz$~D';

    /**
     * @param string $time such as 2026-11-22T034000Z, which sorts by time
     * @param string $hash base64url of the SHA-256
     */
    private function __construct(public string $key, public string $time, public string $hash) {}

    /** @param int $at UTC seconds */
    public static function of(int $at, string $hash): self
    {
        $time = gmdate('Y-m-d\THis\Z', $at);

        return new self(self::FOLDER . "$time-$hash.db.gz", $time, $hash);
    }

    /** Null when it is another object. */
    public static function read(string $key): ?self
    {
        return preg_match(self::FORM, $key, $match) === 1 ? new self($key, $match[1], $match[2]) : null;
    }
}
