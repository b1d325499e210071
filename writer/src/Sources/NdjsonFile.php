<?php

declare(strict_types=1);

namespace TrendVault\Writer\Sources;

use Generator;
use Override;

/** A file of NDJSON, plain or gzip. */
final class NdjsonFile extends Source
{
    private const string ENDING = '/\.ndjson(\.gz)?$/D';
    /** Of st_mode, see inode(7). */
    private const int TYPE_BITS = 0o170000;
    private const int REGULAR_FILE = 0o100000;
    private const int DIGESTED_BYTES = 16 * 1024 * 1024;

    /** @var ?resource while it is read */
    private mixed $stream = null;
    /** Once it was read to its end. */
    private ?int $bytesRead = null;

    /**
     * @param ?int $timeoutSeconds what reading it may take; null for no limit
     * @param ?resource $pipe is read instead of the file, once
     */
    public function __construct(
        private readonly string $path,
        private readonly ?int $timeoutSeconds = null,
        private readonly mixed $pipe = null,
    ) {}

    /** Whether a folder's file is one to be read: another name, or one that starts with a dot, is not complete yet. */
    public static function isComplete(string $name): bool
    {
        return !str_starts_with($name, '.') && preg_match(self::ENDING, $name) === 1;
    }

    public static function withoutEnding(string $name): string
    {
        return (string) preg_replace('/\.ndjson(\.gz)?$|\.gz$/D', '', $name);
    }

    /**
     * The names of files in a folder, without those of `.` and `..`; in no order.
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

    #[Override]
    public function name(): string
    {
        return $this->pipe === null ? self::withoutEnding(basename($this->path)) : 'stdin';
    }

    #[Override]
    public function lines(): iterable
    {
        if ($this->pipe !== null) {
            yield from LineReader::of($this->pipe, $this->path);

            return;
        }
        $this->stream = $this->open();
        try {
            yield from LineReader::of($this->stream, $this->path, $this->timeoutSeconds);
            $this->bytesRead = ftell($this->stream) ?: null;
        } finally {
            fclose($this->stream);
            $this->stream = null;
        }
    }

    /** The SHA-256 of its bytes in hexadecimal; null when it cannot be read, or not in its time: lines() says why. */
    public function digest(): ?string
    {
        try {
            $stream = $this->open();
        } catch (SourceFailure) {
            return null;
        }
        [$hash, $started] = [hash_init('sha256'), hrtime(true)];
        do {
            LineReader::check();
            $bytes = hash_update_stream($hash, $stream, self::DIGESTED_BYTES);
            $isLate =
                $this->timeoutSeconds !== null &&
                hrtime(true) - $started > $this->timeoutSeconds * 1_000_000_000;
        } while ($bytes > 0 && !$isLate);
        fclose($stream);

        return $isLate ? null : hash_final($hash);
    }

    /** Of its bytes, packed or not. */
    #[Override]
    public function progress(): ?float
    {
        if ($this->pipe !== null) {
            return null;
        }

        return $this->stream === null
            ? 1.0
            : (ftell($this->stream) ?: 0) / max(1, self::stat($this->stream, 'size'));
    }

    /** Whether its producer has written to it since it was read. */
    public function hasChanged(): bool
    {
        clearstatcache(true, $this->path);

        return $this->bytesRead !== null && @filesize($this->path) !== $this->bytesRead;
    }

    /**
     * Does not wait for a writer where the path is a pipe.
     *
     * @return resource
     * @throws SourceFailure
     */
    private function open(): mixed
    {
        $stream = is_dir($this->path) ? false : @fopen($this->path, 'rbn');
        if ($stream !== false && (self::stat($stream, 'mode') & self::TYPE_BITS) === self::REGULAR_FILE) {
            return $stream;
        }

        throw match (true) {
            !file_exists($this->path) => SourceFailure::missing($this->path),
            !is_file($this->path) => SourceFailure::notAFile($this->path),
            default => SourceFailure::unreadable($this->path),
        };
    }

    /**
     * @param resource $stream
     * @param 'mode'|'size' $name
     */
    private static function stat(mixed $stream, string $name): int
    {
        $stat = fstat($stream);

        return $stat === false ? 0 : $stat[$name];
    }
}
