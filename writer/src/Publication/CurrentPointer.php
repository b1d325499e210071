<?php

declare(strict_types=1);

namespace TrendVault\Writer\Publication;

use TrendVault\Writer\Store\CheckedStore;
use TrendVault\Writer\Store\Condition;
use TrendVault\Writer\Store\StoreFailure;

/** current.json as it was read: the pointer and the ETag by which it may be replaced. Without a pointer there was none. */
final readonly class CurrentPointer
{
    public const string KEY = 'current.json';
    /** More than a pointer may have, so that what is no pointer can be said. */
    private const int MOST_BYTES = 4096;

    private function __construct(
        private CheckedStore $store,
        public ?Pointer $pointer,
        private string $etag,
    ) {}

    /** @throws StoreFailure when it is something else than a pointer of ours */
    public static function read(CheckedStore $store, PublicKeys $keys): self
    {
        $object = $store->client->get(self::KEY, self::MOST_BYTES);
        if ($object === null) {
            return new self($store, null, '');
        }

        return new self($store, self::verified($object->content, self::KEY, $keys), $object->etag);
    }

    /**
     * A pointer under its own name, which nobody may replace.
     *
     * @return ?Pointer null when there is none
     * @throws StoreFailure when it is something else than a pointer of ours
     */
    public static function stored(CheckedStore $store, int $generation, PublicKeys $keys): ?Pointer
    {
        $key = Pointer::keyOf($generation);
        $object = $store->client->get($key, self::MOST_BYTES);

        return $object === null ? null : self::verified($object->content, $key, $keys);
    }

    public function generation(): int
    {
        return $this->pointer->generation ?? 0;
    }

    /**
     * @return ?self null when somebody else has replaced it meanwhile
     * @throws StoreFailure
     */
    public function replacedBy(Pointer $next): ?self
    {
        $condition = $this->pointer === null ? Condition::isNew() : Condition::matches($this->etag);
        $written = $this->store->putText(self::KEY, $next->text, $condition);

        return $written === null ? null : new self($this->store, $next, $written->etag);
    }

    /** @throws StoreFailure */
    private static function verified(string $text, string $key, PublicKeys $keys): Pointer
    {
        $found = Pointer::read($text, $keys);

        return $found instanceof Pointer
            ? $found
            : throw StoreFailure::because(
                "Nothing was written to the store: $key there is not ours, {$found->sentence()}. If PUBLISH is right, add the key that signed it to PUBLISH_SIGNING_KEY; if not, give this writer a bucket or prefix of its own.",
            );
    }
}
