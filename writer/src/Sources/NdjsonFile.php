<?php

declare(strict_types=1);

namespace TrendVault\Writer\Sources;

use Override;

/** A file of NDJSON, plain or gzip. */
final class NdjsonFile extends Source
{
    /** Of st_mode, see inode(7). */
    private const int TYPE_BITS = 0o170000;
    private const int REGULAR_FILE = 0o100000;
    private const int DIGESTED_BYTES = 16 * 1024 * 1024;

    /** @var ?resource while it is read */
    private mixed $stream = null;
    /** Once it was read to its end. */
    private ?int $bytesRead = null;

    /** @param ?int $timeoutSeconds what reading it may take; null for no limit */
    public function __construct(
        private readonly string $path,
        private readonly ?int $timeoutSeconds = null,
    ) {}

    #[Override]
    public function name(): string
    {
        return FileName::withoutEnding(basename($this->path));
    }

    #[Override]
    public function lines(): iterable
    {
        $this->stream = $this->open();
        try {
            yield from LineReader::lines(
                ByteStream::chunks($this->stream, $this->path, $this->timeoutSeconds),
            );
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
            StopSignals::check();
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

/** NDJSON from a pipe, plain or gzip. It can be read once. */
final class StandardInput extends Source
{
    /** @param resource $stream */
    public function __construct(private readonly mixed $stream) {}

    #[Override]
    public function name(): string
    {
        return 'stdin';
    }

    #[Override]
    public function lines(): iterable
    {
        return LineReader::lines(ByteStream::chunks($this->stream, 'standard input'));
    }
}
