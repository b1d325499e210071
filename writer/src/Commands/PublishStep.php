<?php

declare(strict_types=1);

namespace TrendVault\Writer\Commands;

use SQLite3Exception;
use TrendVault\Writer\Cli\Context;
use TrendVault\Writer\Cli\ExitCode;
use TrendVault\Writer\Cli\PublishSettings;
use TrendVault\Writer\Cli\UsageError;
use TrendVault\Writer\Database\Database;
use TrendVault\Writer\Publication\Chain;
use TrendVault\Writer\Publication\GenerationFile;
use TrendVault\Writer\Publication\Pointer;
use TrendVault\Writer\Publication\Publications;
use TrendVault\Writer\Publication\StorePublisher;
use TrendVault\Writer\Publication\WorkFolder;
use TrendVault\Writer\Store\CheckedStore;
use TrendVault\Writer\Store\Deadline;
use TrendVault\Writer\Store\S3Client;
use TrendVault\Writer\Store\StoreFailure;
use TrendVault\Writer\Store\Transport;

/** Publishes the newest generation into the store of PUBLISH and logs it. Whatever the store does, the generation stays here. */
final readonly class PublishStep
{
    public function __construct(private Context $context, private Database $database) {}

    /**
     * @return ?ExitCode null when all is published
     * @throws UsageError
     */
    public function run(): ?ExitCode
    {
        $settings = PublishSettings::of($this->context->settings);
        $generation = new GenerationFile($this->database)->newestGeneration();
        if ($generation === null) {
            $this->context->log->warning('Nothing is published into the store: there is no generation yet.', [
                'event' => 'nothing_to_store',
            ]);

            return null;
        }
        $publications = new Publications($this->database, $settings->store->name());
        try {
            $this->publish($settings, $publications, $generation);

            return null;
        } catch (StoreFailure $failure) {
            $publications->failed($failure->getMessage(), $this->context->now());
            $this->context->log->error($failure->getMessage(), [
                'event' => 'store_failed',
                'store' => $settings->store->name(),
                'generation' => $generation,
            ]);

            return ExitCode::SourceFailed;
        }
    }

    /** @throws StoreFailure */
    private function publish(PublishSettings $settings, Publications $publications, int $generation): void
    {
        $folder = WorkFolder::beside($this->context->settings->databasePath);
        try {
            $file = $folder->file("$generation.db");
            $started = hrtime(true);
            $pointer = $this->publisher($settings, $publications)->publish(
                $generation,
                fn(): string => $this->makeFile($folder, $generation, $file),
            );
            if ($pointer !== null) {
                $this->log($settings, $pointer, (hrtime(true) - $started) / 1e9);
            }
        } finally {
            $folder->remove();
        }
    }

    private function publisher(PublishSettings $settings, Publications $publications): StorePublisher
    {
        $store = new CheckedStore(
            new S3Client(
                $settings->store,
                new Transport($settings->store),
                new Deadline($settings->timeoutSeconds),
            ),
        );
        $chain = new Chain($store, $settings->keys->publicKeys, $publications, $this->context->log);

        return new StorePublisher($store, $settings->keys, $publications, $chain, $this->context->clock);
    }

    /** @throws StoreFailure on a full disk */
    private function makeFile(WorkFolder $folder, int $generation, string $path): string
    {
        try {
            new GenerationFile($this->database)->make($generation, $path);
        } catch (SQLite3Exception $failure) {
            throw StoreFailure::because(
                "Cannot make $path: {$failure->getMessage()}. The generation is served here all the same; the next run publishes.",
            );
        }

        return $folder->gzip($path);
    }

    private function log(PublishSettings $settings, Pointer $pointer, float $seconds): void
    {
        $this->context->log->info(
            sprintf(
                'Published generation %d into %s: %.1f MB, in %.1f s.',
                $pointer->generation,
                $settings->store->name(),
                $pointer->fileBytes / 1e6,
                $seconds,
            ),
            [
                'event' => 'stored',
                'store' => $settings->store->name(),
                'generation' => $pointer->generation,
                'bytes' => $pointer->fileBytes,
                'seconds' => round($seconds, 3),
            ],
        );
    }
}
