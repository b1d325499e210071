<?php

declare(strict_types=1);

namespace TrendVault\Writer\Commands;

use Override;
use SQLite3Exception;
use Symfony\Component\Console\Attribute\AsCommand;
use Symfony\Component\Console\Input\InputInterface;
use TrendVault\Writer\Backup\BackupName;
use TrendVault\Writer\Backup\Backups;
use TrendVault\Writer\Backup\Restoration;
use TrendVault\Writer\Backup\StoredBackup;
use TrendVault\Writer\Cli\BackupSettings;
use TrendVault\Writer\Cli\Context;
use TrendVault\Writer\Cli\WriterCommand;
use TrendVault\Writer\Database\Database;
use TrendVault\Writer\ExitCode;
use TrendVault\Writer\Store\Payload;
use TrendVault\Writer\Store\S3Client;
use TrendVault\Writer\Store\StoreFailure;
use TrendVault\Writer\Store\WorkFolder;
use TrendVault\Writer\WriterException;

#[AsCommand('backup', 'Makes a backup of the database in the object storage of BACKUP_URL')]
final class Backup extends WriterCommand
{
    #[Override]
    protected function configure(): void
    {
        $this->setHelp(
            '`writer cron` does this once a day when BACKUP_URL is set. `writer restore` brings one back.',
        );
    }

    #[Override]
    protected function handle(InputInterface $input, Context $context): ExitCode
    {
        return $this->write(
            $context,
            static fn(Database $database): ExitCode => new BackupStep($context, $database)->run() ??
                ExitCode::Ok,
        );
    }
}

/** Makes a backup in the store of BACKUP_URL, deletes old ones there, and logs it. */
final readonly class BackupStep
{
    private BackupSettings $settings;
    private Backups $backups;

    /** @throws WriterException */
    public function __construct(private Context $context, private Database $database)
    {
        $this->settings = BackupSettings::of($context->settings);
        $this->backups = new Backups($database, $this->settings->store->name());
    }

    public function isDue(): bool
    {
        return $this->backups->isDue($this->context->now());
    }

    /**
     * @param bool $isOnly whether all others go, however new they are
     * @return ?ExitCode null when all went well
     */
    public function run(bool $isOnly = false): ?ExitCode
    {
        $id = $this->backups->begin($this->context->now());
        $folder = null;
        try {
            $folder = WorkFolder::beside($this->context->settings->databasePath);
            $this->backUp($folder, $id, $isOnly);

            return null;
        } catch (StoreFailure $failure) {
            $this->backups->fail($id, $failure->getMessage());
            $this->context->log->error("No backup was made: {$failure->getMessage()}", [
                'event' => 'backup_failed',
                'store' => $this->settings->store->name(),
            ]);

            return ExitCode::SourceFailed;
        } finally {
            $folder?->remove();
        }
    }

    /** @throws StoreFailure */
    private function backUp(WorkFolder $folder, int $id, bool $isOnly): void
    {
        $started = hrtime(true);
        $store = $this->settings->open();
        ['key' => $key, 'bytes' => $bytes] = $this->copyInto($store, $folder);
        $seconds = (hrtime(true) - $started) / 1e9;
        if ($isOnly) {
            $this->requireWhole($folder, $key);
        }
        $this->backups->finish($id, $bytes, $seconds);
        $deleted = $isOnly
            ? StoredBackup::deleteOthers($store, $key)
            : StoredBackup::deleteOld($store, $this->settings->retentionHours);
        $this->context->log->info(
            sprintf(
                'Backed up into %s: %.1f MB, in %.1f s; %d old backups deleted.',
                $this->settings->store->name(),
                $bytes / 1e6,
                $seconds,
                $deleted,
            ),
            [
                'event' => 'backed_up',
                'store' => $this->settings->store->name(),
                'bytes' => $bytes,
                'seconds' => round($seconds, 3),
                'is_signed' => $this->settings->keys !== null,
                'deleted' => $deleted,
            ],
        );
    }

    /**
     * A whole and consistent file (VACUUM INTO), packed, under a signed name.
     *
     * @return array{key: string, bytes: int} of what was stored
     * @throws StoreFailure
     */
    private function copyInto(S3Client $store, WorkFolder $folder): array
    {
        $path = $folder->file('backup.db');
        try {
            $this->database->run('VACUUM INTO ?', [$path]);
        } catch (SQLite3Exception $failure) {
            throw StoreFailure::because(
                "Cannot make a backup in $folder->path: {$failure->getMessage()}. It needs as much space there as the database has.",
            );
        }
        $payload = Payload::file($folder->gzip($path));
        $key = BackupName::of($this->context->now(), $payload->name(), $this->settings->keys)->key;
        $store->putOnce($key, $payload);

        return ['key' => $key, 'bytes' => $payload->bytes];
    }

    /** @throws StoreFailure when what the store gives back could not be restored */
    private function requireWhole(WorkFolder $folder, string $key): void
    {
        $store = $this->settings->open();
        $stored = array_find(
            StoredBackup::allOf($store),
            static fn(StoredBackup $backup): bool => $backup->name->key === $key,
        );
        if ($stored === null) {
            throw StoreFailure::because("$key is not in the store.");
        }
        $restoration = new Restoration(
            $store,
            $folder,
            $this->settings->keys?->publicKeys,
            allowsUnproved: true,
        );
        Restoration::checkAndRaise($restoration->fetch($stored), 0);
    }
}
