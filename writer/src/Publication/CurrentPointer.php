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

    /** @param ?PointerVerdict $damage what is wrong with an object that is no pointer */
    private function __construct(
        private CheckedStore $store,
        public ?Pointer $pointer,
        private string $etag,
        public ?PointerVerdict $damage = null,
    ) {}

    /** @throws StoreFailure when somebody else's pointer is there */
    public static function read(CheckedStore $store, PointerReader $reader): self
    {
        $object = $store->client->get(self::KEY, self::MOST_BYTES);
        if ($object === null) {
            return new self($store, null, '');
        }
        $found = Pointer::read($object->content, $reader);

        return match (true) {
            $found instanceof Pointer => new self($store, $found, $object->etag),
            self::isForeign($found) => throw self::notOurs(self::KEY, $found),
            default => new self($store, null, $object->etag, $found),
        };
    }

    /**
     * A pointer under its own name.
     *
     * @return Pointer|PointerVerdict|null null when there is none; a verdict when it is damaged
     * @throws StoreFailure when somebody else's pointer is there
     */
    public static function stored(
        CheckedStore $store,
        int $generation,
        PointerReader $reader,
    ): Pointer|PointerVerdict|null {
        $found = self::found($store, $generation, $reader);

        return self::isForeign($found) ? throw self::notOurs(Pointer::keyOf($generation), $found) : $found;
    }

    /**
     * As stored(), but somebody else's is a verdict, too: perhaps a key that was in use once has signed it.
     *
     * @throws StoreFailure
     */
    public static function found(
        CheckedStore $store,
        int $generation,
        PointerReader $reader,
    ): Pointer|PointerVerdict|null {
        $object = $store->client->get(Pointer::keyOf($generation), self::MOST_BYTES);

        return $object === null ? null : Pointer::read($object->content, $reader);
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
        $condition = $this->etag === '' ? Condition::isNew() : Condition::matches($this->etag);
        $written = $this->store->putText(self::KEY, $next->text, $condition);

        return $written === null ? null : new self($this->store, $next, $written->etag);
    }

    public static function notOurs(string $key, PointerVerdict $verdict): StoreFailure
    {
        $remedy =
            $verdict === PointerVerdict::OtherStore
                ? 'If these are right, somebody has copied it there: delete it'
                : 'If PUBLISH is right, add the key that signed it to PUBLISH_SIGNING_KEY';

        return StoreFailure::because(
            "Nothing was written to the store: $key there is not ours, {$verdict->sentence()}. $remedy; if not, give this writer a bucket or prefix of its own.",
        );
    }

    /** @phpstan-assert-if-true PointerVerdict $found */
    private static function isForeign(Pointer|PointerVerdict|null $found): bool
    {
        return in_array(
            $found,
            [PointerVerdict::UnknownKey, PointerVerdict::OtherVersion, PointerVerdict::OtherStore],
            true,
        );
    }
}
