<?php

declare(strict_types=1);

namespace TrendVault\Writer\Tests\Support;

use FilesystemIterator;
use RecursiveDirectoryIterator;
use RecursiveIteratorIterator;

/** A folder that is gone when nothing refers to it any more. */
final readonly class TemporaryFolder
{
    public string $path;

    public function __construct()
    {
        $this->path = sys_get_temp_dir() . '/writer-test-' . bin2hex(random_bytes(6));
        mkdir($this->path);
    }

    public function __destruct()
    {
        $entries = new RecursiveIteratorIterator(
            new RecursiveDirectoryIterator($this->path, FilesystemIterator::SKIP_DOTS),
            RecursiveIteratorIterator::CHILD_FIRST,
        );
        foreach ($entries as $entry) {
            $entry->isDir() && !$entry->isLink()
                ? rmdir($entry->getPathname())
                : unlink($entry->getPathname());
        }
        rmdir($this->path);
    }

    public function write(string $name, string $content): string
    {
        file_put_contents("$this->path/$name", $content);

        return "$this->path/$name";
    }
}
