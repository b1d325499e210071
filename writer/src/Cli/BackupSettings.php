<?php

declare(strict_types=1);

namespace TrendVault\Writer\Cli;

use TrendVault\Writer\Publication\SigningKeys;
use TrendVault\Writer\Store\CheckedStore;
use TrendVault\Writer\Store\Deadline;
use TrendVault\Writer\Store\S3Client;
use TrendVault\Writer\Store\StoreAddress;
use TrendVault\Writer\Store\Transport;

/** What the environment says about backups in object storage. */
final readonly class BackupSettings
{
    private const int RETENTION_DAYS = 14;
    /** What was removed must not be kept longer; docs/privacy.md promises it. */
    private const int MOST_RETENTION_DAYS = 30;
    private const int TIMEOUT_SECONDS = 900;

    private function __construct(
        public StoreAddress $store,
        public int $retentionDays,
        /** For sending or fetching one. */
        public int $timeoutSeconds,
        /** What signs a backup, and proves it when it is brought back; null where there is none. */
        public ?SigningKeys $keys,
    ) {}

    public static function isSet(Settings $settings): bool
    {
        return $settings->sourceText('BACKUP') !== null;
    }

    /** @throws UsageError */
    public static function of(Settings $settings): self
    {
        $url =
            $settings->sourceText('BACKUP') ??
            throw UsageError::because(
                'BACKUP is not set. Expected ' .
                    StoreAddress::URL_EXPECTED .
                    '; it may be the address that PUBLISH has.',
            );

        return new self(
            StoreSettings::address($settings, 'BACKUP', $url),
            $settings->sourceInteger(
                'BACKUP_RETENTION_DAYS',
                self::RETENTION_DAYS,
                1,
                self::MOST_RETENTION_DAYS,
            ),
            $settings->sourceInteger('BACKUP_TIMEOUT_SECONDS', self::TIMEOUT_SECONDS, 1, 86_400),
            PublishSettings::keysIfSet($settings),
        );
    }

    public function open(): CheckedStore
    {
        return new CheckedStore(
            new S3Client($this->store, new Transport($this->store), new Deadline($this->timeoutSeconds)),
        );
    }
}
