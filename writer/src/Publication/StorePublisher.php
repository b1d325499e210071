<?php

declare(strict_types=1);

namespace TrendVault\Writer\Publication;

use Closure;
use Psr\Clock\ClockInterface;
use Psr\Log\LoggerInterface;
use TrendVault\Writer\Store\S3Client;
use TrendVault\Writer\Store\Condition;
use TrendVault\Writer\Store\Payload;
use TrendVault\Writer\Store\StoreFailure;

/** Publishes the newest generation into a store: the object, its pointer, and then current.json. */
final readonly class StorePublisher
{
    public function __construct(
        private S3Client $store,
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
            "Generation $generation was not published: {$this->store->address->name()} has generation $stored, which this database did not put there. If another writer publishes there, stop one of the two; if this database is an older copy, restore it with `writer restore`.",
        );
    }
}

/**
 * The pointers of a store, each with the hash of the one before it. A pointer is first written under its own name and
 * then as current.json, on the condition that this is still the one that it follows: of two writers one succeeds, and a
 * run that died in between is carried on with.
 */
final readonly class Chain
{
    /** How many of the newest pointers may be damaged. */
    private const int MOST_DAMAGED = 10;

    public function __construct(
        private S3Client $store,
        private PointerReader $reader,
        private Publications $publications,
        private LoggerInterface $log,
    ) {}

    /**
     * The store's current pointer, after what is left to do of earlier runs.
     *
     * @throws StoreFailure
     */
    public function settle(): CurrentPointer
    {
        $current = CurrentPointer::read($this->store, $this->reader);
        $newest = $this->publications->newest();
        if ($newest !== null && $newest->generation > $current->generation()) {
            $current = $this->putBack($current, $newest);
        }
        $pending = $this->publications->pending();
        if ($pending !== null) {
            $current = $this->finish($current, $pending);
        }

        return $current->pointer === null ? $this->adopt($current) : $current;
    }

    /**
     * Makes a pointer the current one.
     *
     * @return Pointer that one, or an earlier run's that names the same file
     * @throws StoreFailure when another writer was first
     */
    public function append(CurrentPointer $current, Pointer $next): Pointer
    {
        $this->publications->begin($next);
        if ($this->store->putText($next->key(), $next->text, Condition::isNew()) === null) {
            $next = $this->replaceAbandoned($current, $next);
        }
        if ($current->replacedBy($next) === null) {
            $this->giveUp($next);
        }

        return $next;
    }

    /** Somebody has put an older pointer back, or deleted it: readers must not be led backwards. */
    private function putBack(CurrentPointer $current, Pointer $newest): CurrentPointer
    {
        $found = match (true) {
            $current->damage !== null => 'was damaged',
            $current->pointer === null => 'was gone',
            default => "was of generation {$current->generation()}",
        };
        $this->store->putText($newest->key(), $newest->text, Condition::isNew());
        $replaced = $current->replacedBy($newest) ?? throw $this->raced();
        $this->log->warning(
            "current.json in the store $found, although generation $newest->generation was published: it is put back. Look at who else writes there.",
            [
                'event' => 'pointer_restored',
                'generation' => $newest->generation,
                'found' => $current->generation(),
            ],
        );

        return $replaced;
    }

    /** A run died after it had noted this pointer. */
    private function finish(CurrentPointer $current, Pointer $pending): CurrentPointer
    {
        if ($current->pointer?->text === $pending->text) {
            $this->publications->published($pending, null);

            return $current;
        }
        if ($pending->follows($current->pointer) && $this->isStored($pending)) {
            $replaced = $current->replacedBy($pending) ?? throw $this->raced();
            $this->publications->published($pending, null);
            $this->log->info(
                "Finished what an earlier run began: generation $pending->generation is published.",
                [
                    'event' => 'publication_finished',
                    'generation' => $pending->generation,
                ],
            );

            return $replaced;
        }
        $this->publications->giveUpPending();

        return $current;
    }

    /** Whether a run came to write this pointer. One that the store did not keep whole is written again. */
    private function isStored(Pointer $pending): bool
    {
        $stored = CurrentPointer::stored($this->store, $pending->generation, $this->reader);
        if ($stored instanceof PointerVerdict) {
            $stored =
                $this->store->putText($pending->key(), $pending->text, Condition::none()) === null
                    ? null
                    : $pending;
        }

        return $stored?->text === $pending->text;
    }

    /** Without a current.json, and without a record of it here, the newest pointer of all is the one to follow. */
    private function adopt(CurrentPointer $current): CurrentPointer
    {
        $generations = $match = [];
        foreach ($this->store->list('pointers/') as $object) {
            if (preg_match('~^pointers/([0-9]{1,15})\.json$~D', $object->key, $match) === 1) {
                $generations[] = (int) $match[1];
            }
        }
        rsort($generations);
        foreach (array_slice($generations, 0, self::MOST_DAMAGED) as $generation) {
            $pointer = CurrentPointer::stored($this->store, $generation, $this->reader);
            if ($pointer instanceof Pointer) {
                return $this->putBack($current, $pointer);
            }
        }

        return $current->damage === null
            ? $current
            : throw CurrentPointer::notOurs(CurrentPointer::KEY, $current->damage);
    }

    /** Another run has written a pointer of this generation and has not made it the current one. */
    private function replaceAbandoned(CurrentPointer $current, Pointer $next): Pointer
    {
        $other = CurrentPointer::stored($this->store, $next->generation, $this->reader);
        $isAhead = $other instanceof Pointer && ($other->previousGeneration ?? 0) > $current->generation();
        if ($other === null || $isAhead) {
            throw $this->raced();
        }
        if ($other instanceof Pointer && $other->follows($current->pointer)) {
            if ($other->fileKey() === $next->fileKey()) {
                $this->publications->begin($other);

                return $other; // the same generation, signed at another second
            }
            $current->replacedBy($other);
            $this->publications->giveUpPending();
            throw $this->raced();
        }
        // It is damaged, or follows a pointer that was replaced by another one: it will never be the current one.
        $this->store->putText($next->key(), $next->text, Condition::none()) ?? throw $this->raced();

        return $next;
    }

    /** Another writer was first: takes the own pointer away again, if that one is in its place in the chain. */
    private function giveUp(Pointer $next): never
    {
        $winner = CurrentPointer::read($this->store, $this->reader)->pointer;
        $isFork = $winner !== null && $winner->previousHash === $next->previousHash;
        $own = CurrentPointer::stored($this->store, $next->generation, $this->reader);
        if (
            $isFork &&
            $winner->generation !== $next->generation &&
            $own instanceof Pointer &&
            $own->text === $next->text
        ) {
            $this->store->delete($next->key());
        }
        $this->publications->giveUpPending();
        throw $this->raced();
    }

    private function raced(): StoreFailure
    {
        return StoreFailure::because(
            "Another writer publishes to {$this->store->address->name()} at this moment, and was first: nothing of it was overwritten. A store is for one writer: stop one of the two, or give it a prefix of its own.",
        );
    }
}

/** current.json as it was read: the pointer and the ETag by which it may be replaced. Without a pointer there was none. */
final readonly class CurrentPointer
{
    public const string KEY = 'current.json';
    /** More than a pointer may have, so that what is no pointer can be said. */
    private const int MOST_BYTES = 4096;

    /** @param ?PointerVerdict $damage what is wrong with an object that is no pointer */
    private function __construct(
        private S3Client $store,
        public ?Pointer $pointer,
        private string $etag,
        public ?PointerVerdict $damage = null,
    ) {}

    /** @throws StoreFailure when somebody else's pointer is there */
    public static function read(S3Client $store, PointerReader $reader): self
    {
        $object = $store->get(self::KEY, self::MOST_BYTES);
        if ($object === null) {
            return new self($store, null, '');
        }
        $found = Pointer::read($object->content, $reader);

        if ($found instanceof Pointer) {
            return new self($store, $found, $object->etag);
        }

        self::refuseForeign(self::KEY, $found);

        return new self($store, null, $object->etag, $found);
    }

    /**
     * A pointer under its own name.
     *
     * @return Pointer|PointerVerdict|null null when there is none; a verdict when it is damaged
     * @throws StoreFailure when somebody else's pointer is there
     */
    public static function stored(
        S3Client $store,
        int $generation,
        PointerReader $reader,
    ): Pointer|PointerVerdict|null {
        $found = self::found($store, $generation, $reader);

        if ($found instanceof PointerVerdict) {
            self::refuseForeign(Pointer::keyOf($generation), $found);
        }

        return $found;
    }

    /**
     * As stored(), but somebody else's is a verdict, too: perhaps a key that was in use once has signed it.
     *
     * @throws StoreFailure
     */
    public static function found(
        S3Client $store,
        int $generation,
        PointerReader $reader,
    ): Pointer|PointerVerdict|null {
        $object = $store->get(Pointer::keyOf($generation), self::MOST_BYTES);

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
        // Another writer may have followed it before it is read again.
        $isLater = static fn(string $text): bool => (Pointer::parse($text)->generation ?? 0) >
            $next->generation;
        $written = $this->store->putText(self::KEY, $next->text, $condition, $isLater);

        return $written === null ? null : new self($this->store, $next, $written->etag);
    }

    public static function notOurs(string $key, PointerVerdict $verdict): StoreFailure
    {
        $remedy =
            $verdict === PointerVerdict::OtherStore
                ? 'If these are right, somebody has copied it there: delete it'
                : 'If PUBLISH_URL is right, add the key that signed it to PUBLISH_SIGNING_KEYS';

        return StoreFailure::because(
            "Nothing was written to the store: $key there is not ours, {$verdict->sentence()}. $remedy; if not, give this writer a bucket or prefix of its own.",
        );
    }

    /** @throws StoreFailure where somebody else has written it */
    private static function refuseForeign(string $key, PointerVerdict $found): void
    {
        $foreign = [PointerVerdict::UnknownKey, PointerVerdict::OtherVersion, PointerVerdict::OtherStore];
        if (in_array($found, $foreign, true)) {
            throw self::notOurs($key, $found);
        }
    }
}
