<?php

declare(strict_types=1);

namespace TrendVault\Writer\Publication;

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
     * @param list<ListedObject> $objects
     * @return list<string> keys, the oldest generations first
     */
    private static function old(array $objects, string $name, int $seconds): array
    {
        $newestAt = max([0, ...array_column($objects, 'modifiedAt')]);
        $generations = [];
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
