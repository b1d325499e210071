<?php

declare(strict_types=1);

namespace TrendVault\Writer\Cli;

use TrendVault\Writer\Publication\PointerReader;
use TrendVault\Writer\Publication\SigningKeys;
use TrendVault\Writer\Sources\Transfer;
use TrendVault\Writer\Store\Deadline;
use TrendVault\Writer\Store\S3Client;
use TrendVault\Writer\Store\StoreAddress;
use TrendVault\Writer\Store\Transport;
use TrendVault\Writer\WriterException;

/** What the environment says about publishing into object storage. */
final readonly class PublishSettings
{
    private const string KEYS_EXPECTED = "base64url of exactly 32 random bytes, comma-separated when there are several; the first signs. Make one with: openssl rand -base64 32 | tr '+/' '-_' | tr -d '='";
    private const int TIMEOUT_SECONDS = 50;
    private const int RETENTION_HOURS = 24;
    private const int MOST_RETENTION_HOURS = 720;

    /** @param list<string> $renderCommand words; none when no bundle is wanted */
    private function __construct(
        public StoreAddress $store,
        /** How the store is called in its pointers. */
        public string $name,
        public SigningKeys $keys,
        /** For a generation; and as much again for its bundle. */
        public int $timeoutSeconds,
        public int $retentionHours,
        public array $renderCommand,
    ) {}

    public static function isSet(Settings $settings): bool
    {
        return $settings->sourceText('PUBLISH_URL') !== null;
    }

    /**
     * What a run may take for publishing; 0 without PUBLISH_URL.
     *
     * @throws WriterException
     */
    public static function mostSeconds(Settings $settings): int
    {
        if (!self::isSet($settings)) {
            return 0;
        }

        return self::timeoutSeconds($settings) * ($settings->sourceText('RENDER_COMMAND') === null ? 1 : 2);
    }

    /** @throws WriterException */
    public static function of(Settings $settings): self
    {
        $url =
            $settings->sourceText('PUBLISH_URL') ??
            throw WriterException::usage(
                'PUBLISH_URL is not set. Expected ' .
                    StoreAddress::URL_EXPECTED .
                    '; docs/operations.md says what else.',
            );

        $store = StoreSettings::address($settings, 'PUBLISH_URL', $url);

        return new self(
            $store,
            self::name($settings, $store),
            self::keys($settings),
            self::timeoutSeconds($settings),
            $settings->sourceInteger(
                'PUBLISH_RETENTION_HOURS',
                self::RETENTION_HOURS,
                1,
                self::MOST_RETENTION_HOURS,
            ),
            self::words($settings->sourceText('RENDER_COMMAND') ?? ''),
        );
    }

    /** What the pointers in the store have to be. */
    public function reader(): PointerReader
    {
        return new PointerReader($this->keys->publicKeys, $this->name);
    }

    /**
     * The words of a command, which spaces part; one with a space in it is in double quotes.
     *
     * @return list<string>
     * @throws WriterException
     */
    private static function words(string $command): array
    {
        if (preg_match('/^(?:\s*(?:"[^"]*"|[^\s"]+)(?=\s|$))*\s*$/', $command) !== 1) {
            throw WriterException::usage(
                "Cannot read RENDER_COMMAND=$command: expected words, those with a space in double quotes, for example \"/opt/my tools/bun\" --no-env-file api/dist/render.js.",
            );
        }
        preg_match_all('/"([^"]*)"|([^\s"]+)/', $command, $words, PREG_SET_ORDER | PREG_UNMATCHED_AS_NULL);

        return array_map(static fn(array $word): string => $word[1] ?? $word[2], $words);
    }

    /** The store, with all the time that STORE_TIMEOUT_SECONDS gives. */
    public function open(): S3Client
    {
        return new S3Client($this->store, new Transport($this->store), new Deadline($this->timeoutSeconds));
    }

    /** @throws WriterException */
    private static function name(Settings $settings, StoreAddress $store): string
    {
        $name = $settings->sourceText('PUBLISH_NAME') ?? substr($store->name(), strlen('s3://'));

        return PointerReader::isStoreName($name)
            ? $name
            : throw WriterException::setting(
                'PUBLISH_NAME',
                $name,
                'a name for the store of at most 100 letters, digits, dots, dashes, underscores and slashes',
            );
    }

    /** @throws WriterException */
    private static function timeoutSeconds(Settings $settings): int
    {
        return StoreSettings::timeoutSeconds($settings, self::TIMEOUT_SECONDS);
    }

    /** @throws WriterException that does not quote the key */
    public static function keys(Settings $settings): SigningKeys
    {
        return self::keysIfSet($settings) ??
            throw WriterException::usage(
                'PUBLISH_SIGNING_KEYS is not set. Expected ' . self::KEYS_EXPECTED . '.',
            );
    }

    /** @throws WriterException that does not quote the key */
    public static function keysIfSet(Settings $settings): ?SigningKeys
    {
        $text = $settings->secret('PUBLISH_SIGNING_KEYS');
        if ($text === null) {
            return null;
        }
        if (!extension_loaded('sodium') || !extension_loaded('curl')) {
            throw WriterException::usage(
                "Publishing and backups need PHP's extensions sodium and curl, which this PHP does not have. docs/operations.md says more.",
            );
        }

        return SigningKeys::read($text) ??
            throw WriterException::usage(
                'Cannot read PUBLISH_SIGNING_KEYS: expected ' . self::KEYS_EXPECTED . '.',
            );
    }
}

/** What the environment says about backups in object storage. */
final readonly class BackupSettings
{
    private const int RETENTION_HOURS = 336;
    /** What was removed must not be kept longer than 30 days; docs/privacy.md promises it. */
    private const int MOST_RETENTION_HOURS = 720;
    private const int TIMEOUT_SECONDS = 900;

    private function __construct(
        public StoreAddress $store,
        public int $retentionHours,
        /** For sending or fetching one. */
        public int $timeoutSeconds,
        /** What signs a backup, and proves it when it is brought back; null where there is none. */
        public ?SigningKeys $keys,
    ) {}

    public static function isSet(Settings $settings): bool
    {
        return $settings->sourceText('BACKUP_URL') !== null;
    }

    /** @throws WriterException */
    public static function of(Settings $settings): self
    {
        $url =
            $settings->sourceText('BACKUP_URL') ??
            throw WriterException::usage(
                'BACKUP_URL is not set. Expected ' .
                    StoreAddress::URL_EXPECTED .
                    '; it may be the address that PUBLISH_URL has.',
            );

        return new self(
            StoreSettings::address($settings, 'BACKUP_URL', $url),
            $settings->sourceInteger(
                'BACKUP_RETENTION_HOURS',
                self::RETENTION_HOURS,
                1,
                self::MOST_RETENTION_HOURS,
            ),
            StoreSettings::timeoutSeconds($settings, self::TIMEOUT_SECONDS),
            PublishSettings::keysIfSet($settings),
        );
    }

    public function open(): S3Client
    {
        return new S3Client($this->store, new Transport($this->store), new Deadline($this->timeoutSeconds));
    }
}

/** What the environment says about a store that speaks S3. */
final readonly class StoreSettings
{
    private const string REGION = '/^[a-z0-9-]{1,40}$/D';

    /**
     * How long publishing or a backup may take.
     *
     * @param int $default of the kind of work
     * @throws WriterException
     */
    public static function timeoutSeconds(Settings $settings, int $default): int
    {
        return $settings->sourceInteger('STORE_TIMEOUT_SECONDS', $default, 1, 86_400);
    }

    /**
     * @param string $name of the setting with the address: PUBLISH_URL or BACKUP_URL
     * @throws WriterException
     */
    public static function address(Settings $settings, string $name, string $url): StoreAddress
    {
        $endpoint = self::required($settings->sourceText('S3_ENDPOINT_URL'), 'S3_ENDPOINT_URL', $name);
        if (!StoreAddress::isEndpoint($endpoint)) {
            throw WriterException::setting(
                'S3_ENDPOINT_URL',
                $endpoint,
                'scheme, host and perhaps a port, for example https://s3.eu-central-1.amazonaws.com',
            );
        }
        if (!self::isSafe($endpoint)) {
            throw WriterException::setting(
                'S3_ENDPOINT_URL',
                $endpoint,
                'https. Plain http is for this machine only: localhost, 127.0.0.1 and [::1]',
            );
        }
        $region = $settings->sourceText('S3_REGION') ?? 'auto';
        if (preg_match(self::REGION, $region) !== 1) {
            throw WriterException::setting(
                'S3_REGION',
                $region,
                'a region of the store, for example auto or eu-central-1',
            );
        }

        return StoreAddress::read(
            $url,
            $endpoint,
            $region,
            self::required($settings->secret('S3_ACCESS_KEY_ID'), 'S3_ACCESS_KEY_ID', $name),
            self::required($settings->secret('S3_SECRET_ACCESS_KEY'), 'S3_SECRET_ACCESS_KEY', $name),
        ) ?? throw WriterException::setting($name, $url, StoreAddress::URL_EXPECTED);
    }

    /** Signed requests show what is stored, and to whom, when they travel without TLS. */
    private static function isSafe(string $endpoint): bool
    {
        preg_match('~^(https?)://(\[[^]]+\]|[^:/]+)~i', $endpoint, $match);

        return Transfer::isPrivate($match[1], $match[2]);
    }

    private static function required(?string $value, string $name, string $because): string
    {
        return $value ??
            throw WriterException::usage(
                "$because is set, but $name is not. docs/operations.md says what a store needs.",
            );
    }
}
