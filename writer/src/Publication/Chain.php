<?php

declare(strict_types=1);

namespace TrendVault\Writer\Publication;

use Psr\Log\LoggerInterface;
use TrendVault\Writer\Store\CheckedStore;
use TrendVault\Writer\Store\Condition;
use TrendVault\Writer\Store\StoreFailure;

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
        private CheckedStore $store,
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
        $generations = [];
        foreach ($this->store->client->list('pointers/') as $object) {
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
            $this->store->client->delete($next->key());
        }
        $this->publications->giveUpPending();
        throw $this->raced();
    }

    private function raced(): StoreFailure
    {
        return StoreFailure::because(
            "Another writer publishes to {$this->store->client->address->name()} at this moment, and was first: nothing of it was overwritten. A store is for one writer: stop one of the two, or give it a prefix of its own.",
        );
    }
}
