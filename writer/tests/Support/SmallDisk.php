<?php

declare(strict_types=1);

namespace TrendVault\Writer\Tests\Support;

use PHPUnit\Framework\Assert;

/** A disk of 16 MB that is unmounted when nothing refers to it any more. Skips the test of a user who may not mount one. */
final readonly class SmallDisk
{
    public string $path;
    /** Kept until the disk is unmounted. */
    private TemporaryFolder $folder;

    /** @param int $files it has room for so many files and folders; 0: for any number */
    public function __construct(int $files = 0)
    {
        $this->folder = new TemporaryFolder();
        $path = "{$this->folder->path}/disk";
        mkdir($path);
        $options = "size=16m,nr_inodes=$files";
        exec("mount -t tmpfs -o $options tmpfs " . escapeshellarg($path) . ' 2>&1', $output, $failed);
        if ($failed !== 0) {
            Assert::markTestSkipped('this user may not mount a small disk: ' . implode(' ', $output));
        }
        $this->path = $path;
    }

    public function __destruct()
    {
        exec('umount -l ' . escapeshellarg($this->path));
    }

    /** Writes so much that these bytes are left. */
    public function fillUpTo(int $left): void
    {
        @file_put_contents("$this->path/ballast", str_repeat('x', $this->freeBytes() - $left));
    }

    public function empty(): void
    {
        unlink("$this->path/ballast");
    }

    public function freeBytes(): int
    {
        return (int) disk_free_space($this->path);
    }
}
