<?php

declare(strict_types=1);

namespace TrendVault\Writer\Sources;

use TrendVault\Writer\Observations\RejectionReason;

/**
 * Keeps rejected lines as they were, to be corrected and ingested again, and beside them a report of
 * line numbers and reasons. Makes no file while no line is rejected.
 */
final class RejectStore
{
    private const string LINES = '.ndjson';
    private const string REPORT = '.report.ndjson';

    /** @var array<string, resource> open files by suffix */
    private array $files = [];

    private function __construct(
        private readonly string $folder,
        private readonly string $stem,
        private readonly bool $keepsLines,
    ) {}

    /**
     * Chooses file names that are not taken: two sources may have one name, and a new database counts its runs from 1.
     *
     * @param string $stem the start of both files' names
     */
    public static function lines(string $folder, string $stem): self
    {
        $unused = $stem;
        for (
            $copy = 2;
            file_exists("$folder/$unused" . self::LINES) || file_exists("$folder/$unused" . self::REPORT);
            $copy++
        ) {
            $unused = "$stem-$copy";
        }

        return new self($folder, $unused, true);
    }

    /** For a source whose file is kept whole beside the report, which is overwritten when the source is read again. */
    public static function reportOnly(string $folder, string $stem): self
    {
        return new self($folder, $stem, false);
    }

    /** @throws RejectStoreFailure */
    public function keep(string $bytes): void
    {
        if ($this->keepsLines) {
            $this->write(self::LINES, $bytes);
        }
    }

    /** @throws RejectStoreFailure */
    public function report(int $line, RejectionReason $reason, string $expected): void
    {
        $entry = ['line' => $line, 'reason' => $reason->value, 'expected' => $expected];
        $this->write(
            self::REPORT,
            json_encode($entry, JSON_UNESCAPED_SLASHES | JSON_UNESCAPED_UNICODE | JSON_THROW_ON_ERROR) . "\n",
        );
    }

    /** Where the report is, null when nothing was rejected. */
    public function reportPath(): ?string
    {
        return $this->files === [] ? null : "$this->folder/$this->stem" . self::REPORT;
    }

    /**
     * PHP does not buffer the write, so a rejected line survives a kill before the commit that counts it.
     *
     * @throws RejectStoreFailure
     */
    private function write(string $suffix, string $bytes): void
    {
        $path = "$this->folder/$this->stem$suffix";
        $file = $this->files[$suffix] ??= $this->create($path);
        if (@fwrite($file, $bytes) !== strlen($bytes)) {
            throw RejectStoreFailure::at($path);
        }
    }

    /**
     * @return resource
     * @throws RejectStoreFailure
     */
    private function create(string $path): mixed
    {
        if (!is_dir($this->folder)) {
            @mkdir($this->folder, 0o750, true);
        }

        return @fopen($path, 'wb') ?: throw RejectStoreFailure::at($path);
    }
}
