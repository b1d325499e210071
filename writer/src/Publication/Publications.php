<?php

declare(strict_types=1);

namespace TrendVault\Writer\Publication;

use TrendVault\Writer\Database\Database;

/** The tables publications and pointers: what this database knows of a store. */
final readonly class Publications
{
    private const string ADD_STORE = 'INSERT OR IGNORE INTO publications (store) VALUES (?)';
    private const string SET = 'UPDATE publications SET %s WHERE store = ?';
    private const string ADD_POINTER = <<<'SQL'
    INSERT OR REPLACE INTO pointers (store, generation, published_at, text) VALUES (?, ?, ?, ?)
    SQL;
    private const string OLDEST = <<<'SQL'
    SELECT min(published_at) FROM pointers
    WHERE store = ?1 AND published_at < ?2 AND generation < (SELECT max(generation) FROM pointers WHERE store = ?1)
    SQL;
    private const string OF_DAY = <<<'SQL'
    SELECT text FROM pointers
    WHERE store = ?1 AND published_at >= ?2 AND published_at < ?3
      AND generation < (SELECT max(generation) FROM pointers WHERE store = ?1)
    ORDER BY generation
    SQL;
    private const int DAY_SECONDS = 86_400;
    private const string NEWEST = 'SELECT text FROM pointers WHERE store = ? ORDER BY generation DESC LIMIT 1';

    /** @param string $store s3://bucket/prefix */
    public function __construct(private Database $database, private string $store)
    {
        $database->run(self::ADD_STORE, [$store]);
    }

    /** The newest pointer that was published; null before the first one. */
    public function newest(): ?Pointer
    {
        return self::pointer($this->database->value(self::NEWEST, [$this->store]));
    }

    /** The pointer that a run was about to write and may have written. */
    public function pending(): ?Pointer
    {
        return self::pointer($this->get('pending'));
    }

    public function begin(Pointer $pointer): void
    {
        $this->set(['pending' => $pointer->text]);
    }

    public function giveUpPending(): void
    {
        $this->set(['pending' => null]);
    }

    /**
     * Notes that the store's current pointer is this one.
     *
     * @param ?float $seconds null when another run has done the work
     */
    public function published(Pointer $pointer, ?float $seconds): void
    {
        $this->database->transaction(function () use ($pointer, $seconds): void {
            $this->addPointer($pointer);
            $this->set([
                'pending' => null,
                'generation' => $pointer->generation,
                'published_at' => $pointer->publishedAt,
                'seconds' => $seconds,
                'file_bytes' => $pointer->fileBytes,
                'failed_at' => null,
                'failure' => null,
            ]);
        });
    }

    public function addPointer(Pointer $pointer): void
    {
        $this->database->run(self::ADD_POINTER, [
            $this->store,
            $pointer->generation,
            $pointer->publishedAt,
            $pointer->text,
        ]);
    }

    /** @return list<int> of all pointers that are noted here */
    public function generations(): array
    {
        return $this->database->integers('SELECT generation FROM pointers WHERE store = ?', [$this->store]);
    }

    /**
     * The oldest day that has pointers other than the newest one.
     *
     * @param int $day UTC seconds, as the result
     */
    public function oldestDayBefore(int $day): ?int
    {
        $at = $this->database->number(self::OLDEST, [$this->store, $day]);

        return $at === null ? null : $at - ($at % self::DAY_SECONDS);
    }

    /**
     * Those of a day without the newest of all.
     *
     * @param int $day UTC seconds
     * @return list<Pointer> by generation
     */
    public function pointersOf(int $day): array
    {
        $rows = $this->database->rows(self::OF_DAY, [$this->store, $day, $day + self::DAY_SECONDS]);

        return array_values(array_filter(array_map(Pointer::parse(...), array_column($rows, 'text'))));
    }

    public function forgetPointer(Pointer $pointer): void
    {
        $this->database->run('DELETE FROM pointers WHERE store = ? AND generation = ?', [
            $this->store,
            $pointer->generation,
        ]);
    }

    /** @param int $at UTC seconds */
    public function bundlePublished(RenderedBundle $bundle, int $at, float $seconds): void
    {
        $this->set([
            'bundle_generation' => $bundle->generation,
            'bundle_published_at' => $at,
            'bundle_seconds' => $seconds,
            'bundle_bytes' => $bundle->bytes,
            'failed_at' => null,
            'failure' => null,
        ]);
    }

    /** @param int $at UTC seconds */
    public function failed(string $reason, int $at): void
    {
        $this->set(['failed_at' => $at, 'failure' => $reason]);
    }

    /** A column of this store's row. */
    public function get(string $column): int|float|string|null
    {
        return $this->database->value("SELECT $column FROM publications WHERE store = ?", [$this->store]);
    }

    /** @param array<string, int|float|string|null> $values by column */
    public function set(array $values): void
    {
        $columns = array_map(static fn(string $column): string => "$column = ?", array_keys($values));
        $this->database->run(sprintf(self::SET, implode(', ', $columns)), [
            ...array_values($values),
            $this->store,
        ]);
    }

    private static function pointer(int|float|string|null $text): ?Pointer
    {
        return $text === null ? null : Pointer::parse((string) $text);
    }
}
