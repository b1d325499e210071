<?php

declare(strict_types=1);

namespace TrendVault\Writer\Commands;

use TrendVault\Writer\Cli\Context;
use TrendVault\Writer\Cli\PublishSettings;
use TrendVault\Writer\Publication\BundlePublisher;
use TrendVault\Writer\Publication\GenerationFiles;
use TrendVault\Writer\Publication\Publications;
use TrendVault\Writer\Publication\RenderedBundle;
use TrendVault\Writer\Publication\Renderer;
use TrendVault\Writer\Store\WorkFolder;
use TrendVault\Writer\Store\StoreFailure;

/** Publishes the bundle of a generation, after the generation itself: rendering takes longer than a follower may wait. */
final readonly class BundleStep
{
    public function __construct(
        private Context $context,
        private PublishSettings $settings,
        private Publications $publications,
    ) {}

    /** @throws StoreFailure */
    public function run(int $generation, GenerationFiles $files, WorkFolder $folder): void
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
        )->publish($generation, $files, $folder);
        if ($bundle === null) {
            $this->publications->set(['bundle_generation' => $generation]);

            return;
        }
        $seconds = (hrtime(true) - $started) / 1e9;
        $this->publications->bundlePublished($bundle, $this->context->now(), $seconds);
        $this->log($bundle, $seconds);
    }

    private function log(RenderedBundle $bundle, float $seconds): void
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
}
