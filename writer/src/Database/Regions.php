<?php

declare(strict_types=1);

namespace TrendVault\Writer\Database;

/** The regions in the database: those of the deployment's table, and those that were in it before. */
final readonly class Regions
{
    private const string SEED = <<<'SQL'
    INSERT INTO regions (code, name, languages) VALUES (?, ?, ?)
    ON CONFLICT (code) DO UPDATE SET name = excluded.name, languages = excluded.languages
      WHERE name IS NOT excluded.name OR languages IS NOT excluded.languages
    SQL;

    /**
     * Adds and renames; a region that is no longer listed stays, because its history refers to it. Nothing of it is
     * stored or ranked any more.
     *
     * @return int rows changed
     */
    public static function seed(Database $database, RegionTable $table): int
    {
        return $database->transaction(static function () use ($database, $table): int {
            $changed = 0;
            foreach ($table->regions as $region) {
                $changed += $database->run(self::SEED, [
                    $region->code,
                    $region->name,
                    json_encode($region->languages, JSON_THROW_ON_ERROR),
                ]);
            }

            return $changed;
        });
    }

    /** @throws SchemaMismatch when the table has regions that were not seeded */
    public static function expectSeeded(Database $database, RegionTable $table): void
    {
        $known = array_column($database->rows('SELECT code FROM regions'), 'code');
        $missing = array_diff($table->codes(), $known);
        if ($missing !== []) {
            throw SchemaMismatch::withoutRegions(array_values($missing));
        }
    }
}
