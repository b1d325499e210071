<?php

declare(strict_types=1);

namespace TrendVault\Writer\Status;

use TrendVault\Writer\Database\Database;

/** What was published into object storage, and how the last run ended there. */
final readonly class PublicationReport
{
    private const string STORES = <<<'SQL'
    SELECT store, generation, published_at, seconds, file_bytes, bundle_generation, bundle_published_at, bundle_seconds,
      bundle_bytes, failed_at, failure
    FROM publications ORDER BY max(ifnull(published_at, 0), ifnull(failed_at, 0)) DESC
    SQL;

    /**
     * @param list<array<string, mixed>> $stores the one that was used last is the first
     * @param int $now UTC seconds
     */
    private function __construct(private array $stores, private int $now) {}

    public static function of(Database $database, int $now): self
    {
        return new self($database->rows(self::STORES), $now);
    }

    /** @return list<array<string, mixed>> an object for each store */
    public function facts(): array
    {
        return array_map(
            fn(array $store): array => [
                ...ReadableTime::inRow($store),
                'age_seconds' => $store['published_at'] === null ? null : $this->now - $store['published_at'],
            ],
            $this->stores,
        );
    }

    /** @return list<string> none when nothing was ever published */
    public function lines(): array
    {
        return array_merge(...array_map($this->linesOf(...), $this->stores));
    }

    /**
     * @param array<string, mixed> $store
     * @return list<string>
     */
    private function linesOf(array $store): array
    {
        $lines = ["Store       {$store['store']}: " . $this->publishedText($store)];
        if ($store['bundle_generation'] !== null && $store['bundle_bytes'] !== null) {
            $lines[] = sprintf(
                '            bundle of generation %d, %s ago, %.1f MB, in %.1f s',
                $store['bundle_generation'],
                $this->age($store['bundle_published_at']),
                $store['bundle_bytes'] / 1e6,
                $store['bundle_seconds'],
            );
        }
        if ($store['failure'] !== null) {
            $lines[] = "            failed {$this->age($store['failed_at'])} ago: {$store['failure']}";
        }

        return $lines;
    }

    /** @param array<string, mixed> $store */
    private function publishedText(array $store): string
    {
        return $store['generation'] === null
            ? 'nothing published yet'
            : sprintf(
                'generation %d, %s ago, %.1f MB%s',
                $store['generation'],
                $this->age($store['published_at']),
                $store['file_bytes'] / 1e6,
                $store['seconds'] === null ? '' : sprintf(', in %.1f s', $store['seconds']),
            );
    }

    private function age(int $at): string
    {
        return ReadableTime::age($this->now - $at);
    }
}
