<?php

declare(strict_types=1);

namespace TrendVault\Writer\Sources;

use TrendVault\Writer\Observations\RejectionReason;

/**
 * Keeps rejected lines as they were, to be corrected and ingested again, up to a bound, and beside them a report of line
 * numbers and reasons. Makes no file while no line is rejected.
 */
final class RejectStore
{
    private const string LINES = '.ndjson';
    /** A file system takes 255 bytes; what is left is for a fingerprint, a number and the report's ending. */
    private const int MOST_NAME_BYTES = 200;
    private const string REPORT = '.report.ndjson';
    /** Of each reason: a report may not grow a thousand times as large as its source. */
    private const int MOST_REPORTED = 1000;
    /** Of the lines of a file: rejected ones may not fill the disk of the database. */
    private const int MOST_KEPT_BYTES = 64 * 1024 * 1024;
    /** Enough to see what is wrong with a source that others send. */
    private const int MOST_KEPT_REMOTE_BYTES = 4 * 1024 * 1024;

    /** @var array<string, resource> open files by suffix */
    private array $files = [];
    /** @var array<string, int> lines by reason */
    private array $counts = [];
    private int $keptBytes = 0;
    private bool $isFull = false;
    private int $unkeptLines = 0;
    /** After the first one nothing is written any more. */
    private ?SourceFailure $failure = null;

    private function __construct(
        private readonly string $folder,
        private readonly string $stem,
        private readonly int $mostKeptBytes,
    ) {}

    /** The same name where it is short enough that others can be made of it. */
    public static function shortened(string $name): string
    {
        $match = [];
        $ending = preg_match('/\.ndjson(\.gz)?$/D', $name, $match) === 1 ? $match[0] : '';

        return strlen($name) <= self::MOST_NAME_BYTES
            ? $name
            : mb_strcut($name, 0, self::MOST_NAME_BYTES - strlen($ending), 'UTF-8') . $ending;
    }

    /**
     * Chooses file names that are not taken: two sources may have one name, and a new database counts its runs from 1.
     *
     * @param string $stem the start of both files' names
     */
    public static function lines(string $folder, string $stem): self
    {
        $unused = $stem = self::shortened($stem);
        for (
            $copy = 2;
            file_exists("$folder/$unused" . self::LINES) || file_exists("$folder/$unused" . self::REPORT);
            $copy++
        ) {
            $unused = "$stem-$copy";
        }

        return new self($folder, $unused, self::MOST_KEPT_BYTES);
    }

    /**
     * Replaces what is there of an earlier run, once there is something to keep.
     *
     * @param string $stem the own name of a source
     */
    public static function latest(string $folder, string $stem): self
    {
        return new self($folder, self::shortened($stem), self::MOST_KEPT_REMOTE_BYTES);
    }

    /** For a source whose file is kept whole beside the report, which is overwritten when the source is read again. */
    public static function reportOnly(string $folder, string $stem): self
    {
        return new self($folder, $stem, 0);
    }

    /** Keeps the bytes as they are, while there are not too many; report() follows when they end a line. */
    public function keep(string $bytes): void
    {
        if (!$this->keepsLines() || $this->isFull) {
            return;
        }
        $this->keptBytes += strlen($bytes);
        $this->isFull = $this->keptBytes > $this->mostKeptBytes;
        $this->write(self::LINES, $this->isFull ? "\n" : $bytes); // ends a line of which pieces are kept
    }

    /** Names the line, if it is one of the first of this reason; finish() counts the others. */
    public function report(int $line, RejectionReason $reason, string $expected): void
    {
        $this->unkeptLines += (int) $this->isFull;
        $this->counts[$reason->value] = ($this->counts[$reason->value] ?? 0) + 1;
        if ($this->counts[$reason->value] <= self::MOST_REPORTED) {
            $this->writeEntry(['line' => $line, 'reason' => $reason->value, 'expected' => $expected]);
        }
    }

    /** Says why a source that is kept whole could not be read to its end. */
    public function fail(string $sentence): void
    {
        if (!$this->keepsLines()) {
            $this->writeEntry(['failure' => $sentence]);
        }
    }

    /**
     * Is called once, after the last line.
     *
     * @throws SourceFailure when something could not be written
     */
    public function finish(): void
    {
        foreach ($this->counts as $reason => $count) {
            if ($count > self::MOST_REPORTED) {
                $this->writeEntry(['reason' => $reason, 'further_lines' => $count - self::MOST_REPORTED]);
            }
        }
        if ($this->unkeptLines > 0) {
            $this->writeEntry(['lines_not_kept' => $this->unkeptLines]);
        }
        if ($this->failure !== null) {
            throw $this->failure;
        }
    }

    /** Where the report is, null when nothing was rejected. */
    public function reportPath(): ?string
    {
        return $this->files === [] ? null : "$this->folder/$this->stem" . self::REPORT;
    }

    private function keepsLines(): bool
    {
        return $this->mostKeptBytes > 0;
    }

    /** @param array<string, int|string> $entry */
    private function writeEntry(array $entry): void
    {
        $json = json_encode(
            $entry,
            JSON_UNESCAPED_SLASHES |
                JSON_UNESCAPED_UNICODE |
                JSON_INVALID_UTF8_SUBSTITUTE |
                JSON_THROW_ON_ERROR,
        );
        $this->write(self::REPORT, "$json\n");
    }

    /** PHP does not buffer the write, so a rejected line survives a kill before the commit that counts it. */
    private function write(string $suffix, string $bytes): void
    {
        if ($this->failure !== null) {
            return;
        }
        $path = "$this->folder/$this->stem$suffix";
        $file = $this->files[$suffix] ?? $this->create($path);
        if ($file === null || @fwrite($file, $bytes) !== strlen($bytes)) {
            $this->failure = SourceFailure::unkept($path, $this->keepsLines());
            return;
        }
        $this->files[$suffix] = $file;
    }

    /**
     * In place of what had the name: a file that is opened new follows no link and waits for no pipe.
     *
     * @return ?resource
     */
    private function create(string $path): mixed
    {
        if (!is_dir($this->folder)) {
            @mkdir($this->folder, 0o750, true);
        }
        @unlink($path);

        return @fopen($path, 'xb') ?: null;
    }
}
