<?php

declare(strict_types=1);

namespace TrendVault\Writer\Ingest;

use RuntimeException;
use TrendVault\Writer\Observations\RejectionReason;

/**
 * Keeps what could not be stored: the lines as they were, to be mended and ingested again,
 * and beside them a report of line numbers and reasons. Makes no file while there is nothing to keep.
 */
final class SetAside
{
    /** @var array<string, resource> open files by suffix */
    private array $files = [];

    /** @param string $stem what both files' names start with */
    public function __construct(private readonly string $folder, private readonly string $stem)
    {
    }

    public function keep(string $bytes): void
    {
        fwrite($this->file('.ndjson'), $bytes);
    }

    public function report(int $line, RejectionReason $reason, string $expected): void
    {
        $entry = ['line' => $line, 'reason' => $reason->value, 'expected' => $expected];
        fwrite($this->file('.report.ndjson'), json_encode($entry, JSON_UNESCAPED_SLASHES | JSON_UNESCAPED_UNICODE | JSON_THROW_ON_ERROR) . "\n");
    }

    /** Null when nothing was set aside. */
    public function path(): ?string
    {
        return $this->files === [] ? null : "$this->folder/$this->stem.ndjson";
    }

    /** Before the commit that counts the lines, so that a kill between the two loses none. */
    public function flush(): void
    {
        foreach ($this->files as $file) {
            fflush($file);
        }
    }

    /** @return resource */
    private function file(string $suffix): mixed
    {
        return $this->files[$suffix] ??= $this->create("$this->folder/$this->stem$suffix");
    }

    /** @return resource */
    private function create(string $path): mixed
    {
        if (!is_dir($this->folder)) {
            mkdir($this->folder, 0o750, true);
        }

        return fopen($path, 'wb') ?: throw new RuntimeException("Cannot set lines aside in $path.");
    }
}
