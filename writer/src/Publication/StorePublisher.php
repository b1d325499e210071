<?php

declare(strict_types=1);

namespace TrendVault\Writer\Publication;

use Closure;
use Psr\Clock\ClockInterface;
use TrendVault\Writer\Store\CheckedStore;
use TrendVault\Writer\Store\Payload;
use TrendVault\Writer\Store\StoreFailure;

/** Publishes the newest generation into a store: the object, its pointer, and then current.json. */
final readonly class StorePublisher
{
    public function __construct(
        private CheckedStore $store,
        private SigningKeys $keys,
        /** How the store is called in its pointers. */
        private string $name,
        private Publications $publications,
        private Chain $chain,
        private ClockInterface $clock,
    ) {}

    /**
     * @param Closure(): string $makeFile makes the generation file, and gives the path of it, packed
     * @return ?Pointer null when the generation is published already
     * @throws StoreFailure
     */
    public function publish(int $generation, Closure $makeFile): ?Pointer
    {
        $started = hrtime(true);
        $current = $this->chain->settle();
        if ($current->generation() >= $generation) {
            return $current->pointer?->text === $this->publications->newest()?->text
                ? null
                : throw $this->ahead($current->generation(), $generation);
        }
        $payload = Payload::file($makeFile());
        $pointer = Pointer::sign(
            $this->keys,
            $this->name,
            $generation,
            Base64Url::encode($payload->sha256),
            $payload->bytes,
            $current->pointer,
            $this->clock->now()->getTimestamp(),
        );
        $this->store->putOnce($pointer->fileKey(), $payload);
        $pointer = $this->chain->append($current, $pointer);
        $this->publications->published($pointer, (hrtime(true) - $started) / 1e9);

        return $pointer;
    }

    private function ahead(int $stored, int $generation): StoreFailure
    {
        return StoreFailure::because(
            "Generation $generation was not published: {$this->store->client->address->name()} has generation $stored, which this database did not put there. If another writer publishes there, stop one of the two; if this database is an older copy, restore it with `writer restore`.",
        );
    }
}
