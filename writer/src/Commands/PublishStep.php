<?php

declare(strict_types=1);

namespace TrendVault\Writer\Commands;

use TrendVault\Writer\Cli\Context;
use TrendVault\Writer\Cli\ExitCode;
use TrendVault\Writer\Cli\PublishSettings;
use TrendVault\Writer\Cli\UsageError;
use TrendVault\Writer\Database\Database;
use TrendVault\Writer\Publication\Chain;
use TrendVault\Writer\Publication\GenerationFile;
use TrendVault\Writer\Publication\GenerationFiles;
use TrendVault\Writer\Publication\Publications;
use TrendVault\Writer\Publication\StorePublisher;
use TrendVault\Writer\Store\WorkFolder;
use TrendVault\Writer\Store\StoreFailure;

/** Publishes the newest generation into the store of PUBLISH and logs it. Whatever the store does, the generation stays here. */
final readonly class PublishStep
{
    private PublishSettings $settings;
    private Publications $publications;

    /** @throws UsageError */
    public function __construct(private Context $context, private Database $database)
    {
        $this->settings = PublishSettings::of($context->settings);
        $this->publications = new Publications($database, $this->settings->store->name());
    }

    /** @return ?ExitCode null when all is published */
    public function run(): ?ExitCode
    {
        $generation = new GenerationFile($this->database)->newestGeneration();
        if ($generation === null) {
            $this->context->log->warning('Nothing is published into the store: there is no generation yet.', [
                'event' => 'nothing_to_store',
            ]);

            return null;
        }
        try {
            $this->publish($generation);

            return null;
        } catch (StoreFailure $failure) {
            $this->publications->failed($failure->getMessage(), $this->context->now());
            $this->context->log->error($failure->getMessage(), [
                'event' => 'store_failed',
                'store' => $this->settings->store->name(),
                'generation' => $generation,
            ]);

            return ExitCode::SourceFailed;
        }
    }

    /** Whether there is something that the store does not have yet, as far as it is known here. */
    public function isDue(): bool
    {
        $generation = new GenerationFile($this->database)->newestGeneration();

        return $generation !== null &&
            ($this->publications->newest()?->generation !== $generation ||
                ($this->settings->renderCommand !== [] &&
                    $this->publications->get('bundle_generation') !== $generation));
    }

    /** @throws StoreFailure */
    private function publish(int $generation): void
    {
        $folder = WorkFolder::beside($this->context->settings->databasePath);
        try {
            $files = new GenerationFiles(new GenerationFile($this->database), $folder, $generation);
            $this->publishFile($generation, $files);
            if ($this->settings->renderCommand !== []) {
                new BundleStep($this->context, $this->settings, $this->publications)->run(
                    $generation,
                    $files,
                    $folder,
                );
            }
            new TidyStep($this->context, $this->settings, $this->publications)->run();
        } finally {
            $folder->remove();
        }
    }

    /** @throws StoreFailure */
    private function publishFile(int $generation, GenerationFiles $files): void
    {
        $started = hrtime(true);
        $store = $this->settings->open();
        $chain = new Chain($store, $this->settings->reader(), $this->publications, $this->context->log);
        $pointer = new StorePublisher(
            $store,
            $this->settings->keys,
            $this->settings->name,
            $this->publications,
            $chain,
            $this->context->clock,
        )->publish($generation, $files->packed(...));
        if ($pointer === null) {
            return;
        }
        $seconds = (hrtime(true) - $started) / 1e9;
        $this->context->log->info(
            sprintf(
                'Published generation %d into %s: %.1f MB, in %.1f s.',
                $pointer->generation,
                $this->settings->store->name(),
                $pointer->fileBytes / 1e6,
                $seconds,
            ),
            [
                'event' => 'stored',
                'store' => $this->settings->store->name(),
                'generation' => $pointer->generation,
                'bytes' => $pointer->fileBytes,
                'seconds' => round($seconds, 3),
            ],
        );
    }
}
