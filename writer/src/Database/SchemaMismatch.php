<?php

declare(strict_types=1);

namespace TrendVault\Writer\Database;

use TrendVault\Writer\WriterException;

/** The database's migrations are not the ones that this writer knows. */
final class SchemaMismatch extends WriterException
{
    public static function checksum(string $migration): self
    {
        return new self(
            "Cannot use the database: migration $migration was changed after it was applied (checksum differs)." .
                ' Restore the file, and make the change in a new migration.',
        );
    }

    public static function newer(int $version, int $known): self
    {
        return new self(
            "Cannot use the database: its schema is version $version, this writer supports versions up to $known. Upgrade the writer.",
        );
    }

    public static function pending(int $version, int $known): self
    {
        return new self(
            "Cannot use the database: its schema is version $version, this writer needs $known. Run `writer migrate`.",
        );
    }

    /** @param list<string> $codes */
    public static function withoutRegions(array $codes): self
    {
        return new self(
            'Cannot use the database: it does not have the regions ' .
                implode(', ', $codes) .
                ' yet. Run `writer migrate`.',
        );
    }

    public static function foreign(): self
    {
        return new self(
            'Cannot migrate the database: it has tables that the writer did not create. Expected an empty file or a database of the writer.',
        );
    }

    public static function badFileName(string $file): self
    {
        return new self("Cannot read migration $file: expected a name like 0003_create_observations.sql.");
    }

    /** @param list<int> $versions */
    public static function notInSequence(string $folder, array $versions): self
    {
        $found = $versions === [] ? 'none' : implode(', ', $versions);

        return new self(
            "Cannot read the migrations in $folder: expected versions 1, 2, 3 and so on, found $found.",
        );
    }
}
