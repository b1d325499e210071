<?php

declare(strict_types=1);

namespace TrendVault\Writer\Publication;

use Psr\Clock\ClockInterface;
use TrendVault\Writer\Store\CheckedStore;
use TrendVault\Writer\Store\Condition;
use TrendVault\Writer\Store\Payload;
use TrendVault\Writer\Store\StoreFailure;
use TrendVault\Writer\Store\WorkFolder;

/** Publishes the bundle of a generation: the object, its pointer under its own name, and then bundle.json. */
final readonly class BundlePublisher
{
    public const string KEY = 'bundle.json';
    /** More than a pointer may have, so that what is no pointer can be said. */
    private const int MOST_BYTES = 4096;

    public function __construct(
        private CheckedStore $store,
        private SigningKeys $keys,
        /** How the store is called in its pointers. */
        private string $name,
        private Renderer $renderer,
        private ClockInterface $clock,
    ) {}

    /**
     * @param string $folder where the bundle is written first
     * @return ?RenderedBundle null when the store has one of this generation already
     * @throws StoreFailure
     */
    public function publish(int $generation, GenerationFiles $files, WorkFolder $folder): ?RenderedBundle
    {
        [$condition, $stored] = $this->current();
        if ($stored >= $generation) {
            return $stored === $generation ? null : throw $this->ahead($stored, $generation);
        }
        // A renderer may outlive a writer that was killed: a file of that name would be written by two.
        $path = $folder->file("$generation-" . bin2hex(random_bytes(8)) . '.bundle');
        $bundle = $this->renderer->render($files->plain(), $path, $this->store->client->deadline);
        $this->store->putOnce($bundle->key(), self::payload($bundle, $generation, $path));
        $pointer = BundlePointer::sign(
            $this->keys,
            $this->name,
            $bundle,
            $this->clock->now()->getTimestamp(),
        );
        // A run that died may have left one that nothing names yet.
        $this->store->putText($pointer->key(), $pointer->text, Condition::none());
        if ($this->store->putText(self::KEY, $pointer->text, $condition) === null) {
            throw $this->ahead($this->current()[1], $generation);
        }

        return $bundle;
    }

    /**
     * @return array{Condition, int} by which bundle.json may be replaced, and its generation; 0 without one
     * @throws StoreFailure
     */
    private function current(): array
    {
        $object = $this->store->client->get(self::KEY, self::MOST_BYTES);
        if ($object === null) {
            return [Condition::isNew(), 0];
        }
        $reader = new PointerReader($this->keys->publicKeys, $this->name);
        $found = BundlePointer::read($object->content, $reader);

        return $found instanceof BundlePointer
            ? [Condition::matches($object->etag), $found->generation]
            : throw StoreFailure::because(
                'No bundle was published: ' . self::KEY . " in the store is not ours, {$found->sentence()}.",
            );
    }

    /** @throws StoreFailure when the file is not what the renderer said */
    private static function payload(RenderedBundle $bundle, int $generation, string $path): Payload
    {
        $payload = is_file($path) ? Payload::file($path) : null;
        $isSaid =
            $bundle->generation === $generation &&
            $payload?->bytes === $bundle->bytes &&
            $payload->name() === $bundle->hash;

        return $isSaid
            ? $payload
            : throw StoreFailure::because(
                "No bundle was published: RENDER_COMMAND wrote another file than it said (of generation $bundle->generation, with $bundle->bytes bytes).",
            );
    }

    private function ahead(int $stored, int $generation): StoreFailure
    {
        return StoreFailure::because(
            "No bundle of generation $generation was published: {$this->store->client->address->name()} has one of generation $stored, so another writer publishes there. Stop one of the two.",
        );
    }
}
