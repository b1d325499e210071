<?php

declare(strict_types=1);

namespace TrendVault\Writer\Sources;

/** A folder into which producers rename files of NDJSON. */
final readonly class SpoolFolder
{
    /** Bounds the memory of a run; the others are for the next one. */
    private const int MOST_FILES = 10_000;

    /**
     * The files that are complete, and those of runs that died, oldest first.
     *
     * @param ?int $timeoutSeconds what reading one of them may take; null for no limit
     * @return list<SpoolFile>
     */
    public static function files(string $folder, ?int $timeoutSeconds = null): array
    {
        $names = [];
        foreach (self::names($folder) as $name) {
            $modifiedAt = @lstat("$folder/{$name->path()}")['mtime'] ?? 0;
            $names[] = [$modifiedAt, $name->fileName, $name];
            if (count($names) >= self::MOST_FILES) {
                break;
            }
        }
        usort($names, static fn(array $a, array $b): int => [$a[0], $a[1]] <=> [$b[0], $b[1]]);

        return array_map(
            static fn(array $entry): SpoolFile => new SpoolFile($folder, $entry[2], $timeoutSeconds),
            $names,
        );
    }

    /** @return iterable<SpoolName> */
    private static function names(string $folder): iterable
    {
        foreach (FileName::in("$folder/" . SpoolName::READING) as $claim) {
            $name = SpoolName::parse($claim);
            if ($name !== null) {
                yield $name;
            }
        }
        foreach (FileName::in($folder) as $fileName) {
            if (FileName::isComplete($fileName)) {
                yield SpoolName::waiting($fileName);
            }
        }
    }
}
