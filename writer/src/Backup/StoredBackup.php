<?php

declare(strict_types=1);

namespace TrendVault\Writer\Backup;

use TrendVault\Writer\Publication\Base64Url;
use TrendVault\Writer\Publication\PublicKeys;
use TrendVault\Writer\Publication\SigningKeys;
use TrendVault\Writer\Store\S3Client;
use TrendVault\Writer\Store\StoreFailure;

/** A backup that a store has. */
final readonly class StoredBackup
{
    /** @param int $modifiedAt UTC seconds, by the store's clock */
    private function __construct(public BackupName $name, public int $bytes, public int $modifiedAt) {}

    /**
     * @return list<self> all of a store, by time, the oldest first
     * @throws StoreFailure
     */
    public static function allOf(S3Client $store): array
    {
        $backups = [];
        foreach ($store->list(BackupName::FOLDER) as $object) {
            $name = BackupName::read($object->key);
            if ($name !== null) {
                $backups[] = new self($name, $object->bytes, $object->modifiedAt);
            }
        }

        return $backups;
    }

    /**
     * Deletes all backups of a store but this one.
     *
     * @return int how many
     * @throws StoreFailure
     */
    public static function deleteOthers(S3Client $store, string $key): int
    {
        $others = array_filter(
            self::allOf($store),
            static fn(self $backup): bool => $backup->name->key !== $key,
        );

        return self::delete($store, $others);
    }

    /**
     * Deletes backups that are older than so many hours than the newest one, by the store's clock.
     *
     * @return int how many
     * @throws StoreFailure
     */
    public static function deleteOld(S3Client $store, int $hours): int
    {
        $backups = self::allOf($store);
        $newestAt = max([0, ...array_column($backups, 'modifiedAt')]);
        $old = array_filter(
            $backups,
            static fn(self $backup): bool => $newestAt - $backup->modifiedAt > $hours * 3600,
        );

        return self::delete($store, $old);
    }

    /**
     * @param array<self> $backups
     * @throws StoreFailure
     */
    private static function delete(S3Client $store, array $backups): int
    {
        foreach ($backups as $backup) {
            $store->delete($backup->name->key);
        }

        return count($backups);
    }
}

/**
 * The key of a backup in the store: when it was begun, the hash of what is stored and, where there is a key to sign with,
 * its id and the signature (Ed25519, RFC 8032) of time and hash. One object, so that none is ever there without the other.
 */
final readonly class BackupName
{
    public const string FOLDER = 'backups/';

    /** The first line of what is signed belongs to no other document of the same key. */
    private const string CONTEXT = "trendvault backup v1\n";
    private const string FORM = '~^backups/([0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{6}Z)-([\w-]{43})(?:-([\w-]{8})-([\w-]{86}))?\.db\.gz$~D';

    /**
     * @param string $time such as 2026-11-22T034000Z, which sorts by time
     * @param string $hash base64url of the SHA-256
     */
    private function __construct(
        public string $key,
        public string $time,
        public string $hash,
        private ?string $kid,
        private ?string $signature,
    ) {}

    /** @param int $at UTC seconds */
    public static function of(int $at, string $hash, ?SigningKeys $keys): self
    {
        $time = gmdate('Y-m-d\THis\Z', $at);
        $signature = $keys === null ? null : Base64Url::encode($keys->sign(self::signedText($time, $hash)));
        $proof = $keys === null ? '' : "-$keys->kid-$signature";

        return new self(self::FOLDER . "$time-$hash$proof.db.gz", $time, $hash, $keys?->kid, $signature);
    }

    /** Null when it is another object. */
    public static function read(string $key): ?self
    {
        return preg_match(self::FORM, $key, $match, PREG_UNMATCHED_AS_NULL) === 1
            ? new self($key, $match[1], $match[2], $match[3], $match[4])
            : null;
    }

    /** Whether one of these keys has signed time and hash. */
    public function verdict(PublicKeys $keys): BackupVerdict
    {
        if ($this->kid === null || $this->signature === null) {
            return BackupVerdict::Unsigned;
        }
        if (!$keys->has($this->kid)) {
            return BackupVerdict::UnknownKey;
        }
        $signature = Base64Url::decode($this->signature);
        $text = self::signedText($this->time, $this->hash);

        return $signature !== null && $keys->isSignedBy($this->kid, $text, $signature)
            ? BackupVerdict::Proved
            : BackupVerdict::Forged;
    }

    private static function signedText(string $time, string $hash): string
    {
        return self::CONTEXT . "$time\n$hash\n";
    }
}

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
            self::Proved => 'is signed by a key of PUBLISH_SIGNING_KEYS',
            self::Unsigned
                => 'is not signed: it was made without PUBLISH_SIGNING_KEYS, by a version before, or by somebody else',
            self::UnknownKey
                => 'names a key that is not in PUBLISH_SIGNING_KEYS: it was made with one that was replaced, or by somebody else',
            self::Forged => 'is not what was signed',
        };
    }
}
