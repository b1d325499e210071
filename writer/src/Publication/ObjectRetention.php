<?php

declare(strict_types=1);

namespace TrendVault\Writer\Publication;

use TrendVault\Writer\Store\Condition;
use TrendVault\Writer\Store\ListedObject;
use TrendVault\Writer\Store\S3Client;
use TrendVault\Writer\Store\StoreFailure;

/**
 * Deletes old generation files and bundles. Age is what the store's clock says, back from the newest object there: neither
 * a clock that jumps nor a writer that rests deletes any. Those of the newest generations stay in any case.
 */
final readonly class ObjectRetention
{
    private const int ALWAYS_KEPT = 10;
    /** The pointer of a bundle goes before the bundle. */
    private const array NAMES = [
        'generations/' => ['~^generations/([0-9]{1,15})-[A-Za-z0-9_-]{43}\.db\.gz$~D'],
        'bundles/' => [
            '~^bundles/([0-9]{1,15})\.json$~D',
            '~^bundles/([0-9]{1,15})-[A-Za-z0-9_-]{43}\.bundle$~D',
        ],
    ];

    /** @param array<string, int> $seconds how long what is in a folder stays, such as generations/ */
    public function __construct(private S3Client $store, private array $seconds) {}

    /**
     * @param int $most how many are deleted at most
     * @return int how many were deleted; as many as $most when there may be more
     * @throws StoreFailure
     */
    public function tidy(int $most): int
    {
        $deleted = 0;
        foreach ($this->seconds as $folder => $seconds) {
            $objects = iterator_to_array($this->store->list($folder), false);
            foreach (self::NAMES[$folder] as $name) {
                foreach (self::old($objects, $name, $seconds) as $key) {
                    if ($deleted >= $most) {
                        return $deleted;
                    }
                    $this->store->delete($key);
                    $deleted++;
                }
            }
        }

        return $deleted;
    }

    /**
     * Deletes what is of an older generation, whatever its age.
     *
     * @throws StoreFailure
     */
    public function deleteBefore(int $generation): void
    {
        $match = [];
        foreach (self::NAMES as $folder => $names) {
            $objects = iterator_to_array($this->store->list($folder), false);
            foreach ($names as $name) {
                foreach ($objects as $object) {
                    if (preg_match($name, $object->key, $match) === 1 && (int) $match[1] < $generation) {
                        $this->store->delete($object->key);
                    }
                }
            }
        }
    }

    /**
     * @param list<ListedObject> $objects
     * @return list<string> keys, the oldest generations first
     */
    private static function old(array $objects, string $name, int $seconds): array
    {
        $newestAt = max([0, ...array_column($objects, 'modifiedAt')]);
        $generations = $match = [];
        foreach ($objects as $object) {
            if (preg_match($name, $object->key, $match) === 1) {
                $generations[(int) $match[1]][] = $object;
            }
        }
        ksort($generations);
        $old = array_merge(...array_slice($generations, 0, -self::ALWAYS_KEPT));

        return array_column(
            array_filter(
                $old,
                static fn(ListedObject $object): bool => $newestAt - $object->modifiedAt > $seconds,
            ),
            'key',
        );
    }
}

/**
 * Packs the pointers of a day that is over into one object, and deletes them one by one when they are in it. The newest
 * pointer stays. A pack is only ever added to.
 */
final readonly class PointerPacks
{
    private const int GZIP_LEVEL = 9;
    private const int DAY_SECONDS = 86_400;
    private const int MOST_BYTES = 16 * 1024 * 1024;
    private const int MOST_UNPACKED_BYTES = 64 * 1024 * 1024;

    public function __construct(
        private S3Client $store,
        private PointerReader $reader,
        private Publications $publications,
    ) {}

    /**
     * @param int $now UTC seconds
     * @param int $most how many pointers are deleted at most
     * @return int how many were deleted
     * @throws StoreFailure
     */
    public function tidy(int $now, int $most): int
    {
        $today = $now - ($now % self::DAY_SECONDS);
        if ($this->publications->oldestDayBefore($today) === null) {
            return 0;
        }
        $this->findOthers();
        $day = $this->publications->oldestDayBefore($today);
        if ($day === null) {
            return 0;
        }
        $pointers = $this->publications->pointersOf($day);
        $this->pack($day, $pointers);
        foreach (array_slice($pointers, 0, $most) as $pointer) {
            $this->store->delete($pointer->key());
            $this->publications->forgetPointer($pointer);
        }

        return min($most, count($pointers));
    }

    /** Notes pointers in the store that this database does not know, as after a restore. */
    private function findOthers(): void
    {
        [$known, $match] = [array_flip($this->publications->generations()), []];
        foreach ($this->store->list('pointers/') as $object) {
            if (preg_match('~^pointers/([0-9]{1,15})\.json$~D', $object->key, $match) !== 1) {
                continue;
            }
            if (!isset($known[(int) $match[1]])) {
                $this->note((int) $match[1]);
            }
        }
    }

    private function note(int $generation): void
    {
        $pointer = CurrentPointer::found($this->store, $generation, $this->reader);
        $isOlder = $generation < ($this->publications->newest()->generation ?? 0);
        if ($pointer instanceof Pointer && $pointer->generation === $generation && $isOlder) {
            $this->publications->addPointer($pointer);
        }
    }

    /** @param list<Pointer> $pointers */
    private function pack(int $day, array $pointers): void
    {
        $key = 'pointers/packed/' . gmdate('Y-m-d', $day) . '.jsonl.gz';
        $object = $this->store->get($key, self::MOST_BYTES);
        $packed = $object === null ? [] : self::unpack($object->content, $key);
        $all = $packed;
        foreach ($pointers as $pointer) {
            $all[$pointer->generation] = $pointer->text;
        }
        ksort($all);
        if ($all === $packed) {
            return;
        }
        $text = (string) gzencode(
            implode(array_map(static fn(string $line): string => "$line\n", $all)),
            self::GZIP_LEVEL,
        );
        $condition = $object === null ? Condition::isNew() : Condition::matches($object->etag);
        $this->store->putText($key, $text, $condition) ??
            throw StoreFailure::because("Cannot pack pointers: somebody else writes $key at this moment.");
    }

    /**
     * @return array<int, string> pointers by generation
     * @throws StoreFailure
     */
    private static function unpack(string $content, string $key): array
    {
        $text = @gzdecode($content, self::MOST_UNPACKED_BYTES);
        $pointers = [];
        foreach ($text === false ? [''] : explode("\n", rtrim($text, "\n")) as $line) {
            $pointer =
                Pointer::parse($line) ??
                throw StoreFailure::because(
                    "$key in the store is damaged, so that no pointer of that day is deleted. Put a whole copy back, or delete it: it is written again from the pointers that are left.",
                );
            $pointers[$pointer->generation] = $line;
        }

        return $pointers;
    }
}
