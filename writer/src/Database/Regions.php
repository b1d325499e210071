<?php

declare(strict_types=1);

namespace TrendVault\Writer\Database;

/** The regions, as db/regions.json lists them. */
final readonly class Regions
{
    private const string SEED = <<<'SQL'
    INSERT INTO regions (code, name, languages) VALUES (?, ?, ?)
    ON CONFLICT (code) DO UPDATE SET name = excluded.name, languages = excluded.languages
      WHERE name IS NOT excluded.name OR languages IS NOT excluded.languages
    SQL;

    /**
     * Adds and renames; a region that is no longer listed stays, because its history refers to it.
     *
     * @return int rows changed
     */
    public static function seed(Database $database, string $file): int
    {
        $regions = json_decode((string) file_get_contents($file), true, flags: JSON_THROW_ON_ERROR);

        return $database->transaction(static function () use ($database, $regions): int {
            $changed = 0;
            foreach ($regions as ['code' => $code, 'name' => $name, 'languages' => $languages]) {
                $changed += $database->run(self::SEED, [
                    $code,
                    $name,
                    json_encode($languages, JSON_THROW_ON_ERROR),
                ]);
            }

            return $changed;
        });
    }

    /** @return list<string> */
    public static function codes(Database $database): array
    {
        return array_map(
            strval(...),
            array_column($database->rows('SELECT code FROM regions ORDER BY code'), 'code'),
        );
    }
}
