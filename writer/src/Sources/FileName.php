<?php

declare(strict_types=1);

namespace TrendVault\Writer\Sources;

use Generator;

/** The names of files with observations. */
final readonly class FileName
{
    private const array ENDINGS = ['.ndjson', '.ndjson.gz'];
    /** A file system takes 255 bytes; what is left is for a fingerprint, a number and the report's ending. */
    private const int MOST_BYTES = 200;

    /** Whether a folder's file is one to be read: another name, or one that starts with a dot, is not complete yet. */
    public static function isComplete(string $name): bool
    {
        return !str_starts_with($name, '.') && self::ending($name) !== '';
    }

    /** The same name where it is short enough that others can be made of it. */
    public static function shortened(string $name): string
    {
        $ending = self::ending($name);

        return strlen($name) <= self::MOST_BYTES
            ? $name
            : mb_strcut($name, 0, self::MOST_BYTES - strlen($ending), 'UTF-8') . $ending;
    }

    public static function withoutEnding(string $name): string
    {
        return (string) preg_replace('/\.ndjson(\.gz)?$|\.gz$/D', '', $name);
    }

    /**
     * The names in a folder, without those of `.` and `..`; in no order.
     *
     * @return Generator<string> nothing where there is no such folder
     * @throws SourceFailure when it cannot be read
     */
    public static function in(string $folder): Generator
    {
        $handle = @opendir($folder);
        if ($handle === false) {
            return is_dir($folder) ? throw SourceFailure::unreadable($folder) : null;
        }
        try {
            while (($name = readdir($handle)) !== false) {
                if ($name !== '.' && $name !== '..') {
                    yield $name;
                }
            }
        } finally {
            closedir($handle);
        }
    }

    private static function ending(string $name): string
    {
        foreach (self::ENDINGS as $ending) {
            if (str_ends_with($name, $ending)) {
                return $ending;
            }
        }

        return '';
    }
}
