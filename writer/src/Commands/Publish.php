<?php

declare(strict_types=1);

namespace TrendVault\Writer\Commands;

use Override;
use Symfony\Component\Console\Attribute\AsCommand;
use Symfony\Component\Console\Input\InputInterface;
use TrendVault\Writer\Cli\Context;
use TrendVault\Writer\Cli\PublishSettings;
use TrendVault\Writer\Cli\WriterCommand;
use TrendVault\Writer\Database\Database;
use TrendVault\Writer\ExitCode;
use TrendVault\Writer\Publication\BundlePublisher;
use TrendVault\Writer\Publication\Chain;
use TrendVault\Writer\Publication\GenerationFile;
use TrendVault\Writer\Publication\ObjectRetention;
use TrendVault\Writer\Publication\PointerPacks;
use TrendVault\Writer\Publication\Publications;
use TrendVault\Writer\Publication\RenderedBundle;
use TrendVault\Writer\Publication\Renderer;
use TrendVault\Writer\Publication\StorePublisher;
use TrendVault\Writer\Store\StoreFailure;
use TrendVault\Writer\Store\WorkFolder;
use TrendVault\Writer\WriterException;

#[AsCommand('publish', 'Publishes the newest generation into the object storage of PUBLISH_URL')]
final class Publish extends WriterCommand
{
    #[Override]
    protected function configure(): void
    {
        $this->setHelp(
            '`writer cron` does this after each generation when PUBLISH_URL is set. What is published already is left alone;' .
                ' when the store fails, nothing here is lost, the exit code is 4, and the next run catches up.',
        );
    }

    #[Override]
    protected function handle(InputInterface $input, Context $context): ExitCode
    {
        return $this->write(
            $context,
            static fn(Database $database): ExitCode => new PublishStep($context, $database)->run() ??
                ExitCode::Ok,
        );
    }
}

/** Publishes the newest generation into the store of PUBLISH_URL and logs it. Whatever the store does, the generation stays here. */
final readonly class PublishStep
{
    private const int TIDY_INTERVAL_SECONDS = 600;
    /** A bundle is asked for by those who have begun to read it. */
    private const int LEAST_BUNDLE_SECONDS = 3600;
    /** For each of the two, so that no run takes long: in ten minutes ten of each kind come. */
    private const int MOST_DELETED = 100;

    private PublishSettings $settings;
    private Publications $publications;

    /** @throws WriterException */
    public function __construct(private Context $context, private Database $database)
    {
        $this->settings = PublishSettings::of($context->settings);
        $this->publications = new Publications($database, $this->settings->store->name());
    }

    /** @return ?ExitCode null when all is published */
    public function run(): ?ExitCode
    {
        $generation = GenerationFile::newest($this->database);
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
        $generation = GenerationFile::newest($this->database);

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
            $file = new GenerationFile($this->database, $folder, $generation);
            $this->publishFile($generation, $file);
            if ($this->settings->renderCommand !== []) {
                $this->publishBundle($generation, $file, $folder);
            }
            $this->tidy();
        } finally {
            $folder->remove();
        }
    }

    /** @throws StoreFailure */
    private function publishFile(int $generation, GenerationFile $file): void
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
        )->publish($generation, $file->packed(...));
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

    /**
     * After the generation itself: rendering takes longer than a follower may wait.
     *
     * @throws StoreFailure
     */
    private function publishBundle(int $generation, GenerationFile $file, WorkFolder $folder): void
    {
        if ($this->publications->get('bundle_generation') === $generation) {
            return;
        }
        $started = hrtime(true);
        $bundle = new BundlePublisher(
            $this->settings->open(),
            $this->settings->keys,
            $this->settings->name,
            new Renderer($this->settings->renderCommand),
            $this->context->clock,
        )->publish($generation, $file, $folder);
        if ($bundle === null) {
            $this->publications->set(['bundle_generation' => $generation]);

            return;
        }
        $seconds = (hrtime(true) - $started) / 1e9;
        $this->publications->bundlePublished($bundle, $this->context->now(), $seconds);
        $this->logBundle($bundle, $seconds);
    }

    private function logBundle(RenderedBundle $bundle, float $seconds): void
    {
        $this->context->log->info(
            sprintf(
                'Published a bundle of generation %d into %s: %s documents, %.1f MB, in %.1f s.',
                $bundle->generation,
                $this->settings->store->name(),
                number_format($bundle->documents),
                $bundle->bytes / 1e6,
                $seconds,
            ),
            [
                'event' => 'bundle_stored',
                'store' => $this->settings->store->name(),
                'generation' => $bundle->generation,
                'documents' => $bundle->documents,
                'bytes' => $bundle->bytes,
                'seconds' => round($seconds, 3),
            ],
        );
    }

    /**
     * Every ten minutes: deletes what is old in the store, and packs the pointers of days that are over.
     *
     * @throws StoreFailure
     */
    private function tidy(): void
    {
        $now = $this->context->now();
        $last = $this->publications->get('tidied_at');
        if ($last !== null && $last <= $now && $last > $now - self::TIDY_INTERVAL_SECONDS) {
            return;
        }
        $store = $this->settings->open();
        $pageSeconds = $this->context->settings->generationRetentionSeconds;
        $deleted = new ObjectRetention($store, [
            'generations/' => max(3600 * $this->settings->retentionHours, $pageSeconds),
            'bundles/' => max(self::LEAST_BUNDLE_SECONDS, $pageSeconds),
        ])->tidy(self::MOST_DELETED);
        $packed = new PointerPacks($store, $this->settings->reader(), $this->publications)->tidy(
            $now,
            self::MOST_DELETED,
        );
        if (max($deleted, $packed) < self::MOST_DELETED) {
            $this->publications->set(['tidied_at' => $now]);
        }
        if ($deleted + $packed > 0) {
            $this->context->log->info(
                "Tidied the store: $deleted old objects deleted, $packed pointers packed.",
                [
                    'event' => 'store_tidied',
                    'store' => $this->settings->store->name(),
                    'deleted' => $deleted,
                    'packed' => $packed,
                ],
            );
        }
    }
}

#[AsCommand('publication-keys', 'Prints the public keys (JWKS) by which readers of the store verify it')]
final class PublicationKeys extends WriterCommand
{
    #[Override]
    protected function handle(InputInterface $input, Context $context): ExitCode
    {
        $context->write(PublishSettings::keys($context->settings)->publicKeys->jwks() . "\n");

        return ExitCode::Ok;
    }
}
