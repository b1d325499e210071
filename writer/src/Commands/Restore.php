<?php

declare(strict_types=1);

namespace TrendVault\Writer\Commands;

use Override;
use Symfony\Component\Console\Attribute\AsCommand;
use Symfony\Component\Console\Input\InputInterface;
use Symfony\Component\Console\Input\InputOption;
use TrendVault\Writer\Backup\BackupVerdict;
use TrendVault\Writer\Backup\Restoration;
use TrendVault\Writer\Cli\BackupSettings;
use TrendVault\Writer\Cli\Context;
use TrendVault\Writer\Cli\PublishSettings;
use TrendVault\Writer\Cli\WriterCommand;
use TrendVault\Writer\Database\Database;
use TrendVault\Writer\Database\DatabaseFailure;
use TrendVault\Writer\Database\WriterLock;
use TrendVault\Writer\ExitCode;
use TrendVault\Writer\Publication\CurrentPointer;
use TrendVault\Writer\Store\StoreFailure;
use TrendVault\Writer\Store\WorkFolder;
use TrendVault\Writer\WriterException;

#[AsCommand('restore', 'Brings a backup back to where there is no database, and publishes a generation')]
final class Restore extends WriterCommand
{
    private const string HELP = <<<'TEXT'
    Only where there is no file at DB_PATH. The backup has to be signed by a key of PUBLISH_SIGNING_KEYS, where that is set.
    It is downloaded from the store of BACKUP_URL, compared with its hash and checked for damage. Where PUBLISH_URL is set, the
    next generation gets a number above the one that the store has, so that no reader is led backwards, and is published.
    Other processes must not use the file until this command ends.
    TEXT;

    #[Override]
    protected function configure(): void
    {
        $this->setHelp(self::HELP)
            ->addOption(
                'backup',
                mode: InputOption::VALUE_REQUIRED,
                description: 'The time in a backup\'s name, such as 2026-11-22T034000Z (default: the newest one)',
            )
            ->addOption(
                'allow-unproved',
                mode: InputOption::VALUE_NONE,
                description: 'Take a backup that no key of PUBLISH_SIGNING_KEYS has signed; never one that is signed wrongly',
            )
            ->addOption(
                'no-publish',
                mode: InputOption::VALUE_NONE,
                description: 'Leave the store of PUBLISH_URL alone: for an exercise, beside a writer that runs',
            );
    }

    #[Override]
    protected function handle(InputInterface $input, Context $context): ExitCode
    {
        $settings = BackupSettings::of($context->settings);
        $publishes = PublishSettings::isSet($context->settings) && !self::isGiven($input, 'no-publish');
        $path = WriterLock::resolve($context->settings->databasePath);
        $lock = WriterLock::acquire($path, 'restore', 0);
        try {
            self::requireEmpty($path);
            $published = $publishes ? self::published($context) : 0;
            self::bringBack($context, $input, $settings, $published);
        } finally {
            $lock->release();
        }

        return $this->migrateAndWrite(
            $context,
            static fn(Database $database): ExitCode => self::publish($context, $database, $publishes),
        );
    }

    /** @throws WriterException */
    private static function requireEmpty(string $path): void
    {
        // SQLite would put what is in any of them into the restored file.
        foreach (["$path", "$path-wal", "$path-shm", "$path-journal"] as $file) {
            if (file_exists($file)) {
                throw WriterException::usage(
                    "Nothing was restored: there is a file $file. Move it and its neighbours away, or set DB_PATH to another place.",
                );
            }
        }
    }

    /**
     * The number of the generation that readers have; 0 without one.
     *
     * @throws WriterException|StoreFailure
     */
    private static function published(Context $context): int
    {
        $settings = PublishSettings::of($context->settings);

        return CurrentPointer::read($settings->open(), $settings->reader())->generation();
    }

    /** @throws StoreFailure|DatabaseFailure */
    private static function bringBack(
        Context $context,
        InputInterface $input,
        BackupSettings $settings,
        int $published,
    ): void {
        $path = WriterLock::resolve($context->settings->databasePath);
        $folder = WorkFolder::beside($path);
        try {
            $restoration = new Restoration(
                $settings->open(),
                $folder,
                $settings->keys?->publicKeys,
                self::isGiven($input, 'allow-unproved'),
            );
            $backup = $restoration->find(self::option($input, 'backup'));
            $restored = $restoration->fetch($backup);
            // In its place, a newer writer's file would be in the way of an older backup.
            $expectKnown = static fn(Database $database): int => self::migrator(
                $context,
                $database,
            )->verifiedVersion();
            Restoration::checkAndRaise($restored, $published, $expectKnown);
            if (!@rename($restored, $path)) {
                throw WorkFolder::cannotWrite($path);
            }
        } finally {
            $folder->remove();
        }
        $isProved = $restoration->verdict($backup->name) === BackupVerdict::Proved;
        self::log(
            $context,
            "Restored $path from {$settings->store->name()}/{$backup->name->key}.",
            $isProved,
        );
    }

    private static function log(Context $context, string $sentence, bool $isProved): void
    {
        $facts = ['event' => 'restored', 'is_proved' => $isProved];
        $isProved
            ? $context->log->info($sentence, $facts)
            : $context->log->warning("$sentence Nothing proves who made it.", $facts);
    }

    /** A generation of what was restored, under a number that nobody has seen. */
    private static function publish(Context $context, Database $database, bool $publishes): ExitCode
    {
        new RankStep($context, $database)->run();
        $exitCode = $publishes ? new PublishStep($context, $database)->run() : null;

        return $exitCode ?? ExitCode::Ok;
    }
}
