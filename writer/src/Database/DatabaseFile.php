<?php

declare(strict_types=1);

namespace TrendVault\Writer\Database;

/** The one name of a database file, which may have many: the lock and the log are beside that one. */
final readonly class DatabaseFile
{
    /** As many as Linux follows, path_resolution(7). */
    private const int MAX_LINKS = 40;

    /**
     * Follows symbolic links, in the folder and of the file, as SQLite does. The file need not exist yet.
     *
     * @return string an absolute path; the path itself when its folder does not exist
     * @throws DatabaseFailure when the file has hard links
     */
    public static function resolve(string $path): string
    {
        $resolved = self::followLinks($path);
        $links = is_file($resolved) ? (int) @stat($resolved)['nlink'] : 1;

        return $links > 1 ? throw DatabaseFailure::hardLinked($path, $links) : $resolved;
    }

    private static function followLinks(string $path): string
    {
        for ($links = 0; is_link($path) && $links < self::MAX_LINKS; $links++) {
            $target = (string) readlink($path);
            $path = str_starts_with($target, '/') ? $target : dirname($path) . "/$target";
        }
        $folder = realpath(dirname($path));

        return $folder === false ? $path : rtrim($folder, '/') . '/' . basename($path);
    }
}
