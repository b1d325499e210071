<?php

declare(strict_types=1);

namespace TrendVault\Writer\Sources;

use Override;

/**
 * A file that a producer has renamed into a spool folder. It leaves the folder after its lines are committed,
 * so after a crash it is read again; lines that were stored are then counted as unchanged, and the report is
 * overwritten. No line is lost or counted twice.
 */
final readonly class SpoolFile implements Source
{
    private const string DONE = 'done';
    private const string REJECTED = 'rejected';

    private NdjsonFile $file;
    /** Distinguishes files of the same name. */
    private string $fingerprint;

    private function __construct(private string $folder, private string $fileName)
    {
        $this->file = new NdjsonFile("$folder/$fileName");
        $this->fingerprint = substr((string) @hash_file('sha256', "$folder/$fileName"), 0, 12);
    }

    /**
     * The files that are complete, oldest first. Producers write under another name, or one that starts with a dot.
     *
     * @return list<self>
     */
    public static function all(string $folder): array
    {
        $paths = array_filter(
            [...glob("$folder/*.ndjson") ?: [], ...glob("$folder/*.ndjson.gz") ?: []],
            is_file(...),
        );
        usort($paths, static fn(string $a, string $b): int => [filemtime($a), $a] <=> [filemtime($b), $b]);

        return array_map(static fn(string $path): self => new self($folder, basename($path)), $paths);
    }

    #[Override]
    public function name(): string
    {
        return $this->file->name();
    }

    #[Override]
    public function lines(): iterable
    {
        return $this->file->lines();
    }

    #[Override]
    public function progress(): ?float
    {
        return $this->file->progress();
    }

    /** The report alone: the lines are in the file, which moves to the same folder. */
    #[Override]
    public function rejects(): RejectStore
    {
        return RejectStore::reportOnly(
            "$this->folder/" . self::REJECTED,
            "$this->fingerprint-$this->fileName",
        );
    }

    /**
     * Takes the file out of the spool.
     *
     * @throws SourceFailure when it cannot be moved: it would be read again with every run
     */
    #[Override]
    public function settle(bool $clean): void
    {
        $folder = "$this->folder/" . ($clean ? self::DONE : self::REJECTED);
        if (!is_dir($folder)) {
            @mkdir($folder, 0o750);
        }
        if (!@rename("$this->folder/$this->fileName", "$folder/$this->fingerprint-$this->fileName")) {
            throw SourceFailure::because(
                "Cannot move $this->folder/$this->fileName to $folder: permission denied. Its lines are stored; the next run reads the file again.",
            );
        }
    }
}
