<?php

declare(strict_types=1);

namespace TrendVault\Writer\Sources;

use Override;

/** A file of NDJSON, plain or gzip. */
final class NdjsonFile implements Source
{
    /** @var ?resource while it is read */
    private mixed $stream = null;

    public function __construct(private readonly string $path) {}

    #[Override]
    public function name(): string
    {
        return preg_replace('/\.ndjson(\.gz)?$|\.gz$/', '', basename($this->path));
    }

    #[Override]
    public function lines(): iterable
    {
        $this->stream =
            @fopen($this->path, 'rb') ?:
            throw file_exists($this->path)
                ? SourceFailure::unreadable($this->path)
                : SourceFailure::missing($this->path);
        try {
            yield from LineReader::lines(ByteStream::chunks($this->stream, $this->path));
        } finally {
            fclose($this->stream);
            $this->stream = null;
        }
    }

    /** Of its bytes, packed or not. */
    #[Override]
    public function progress(): ?float
    {
        return $this->stream === null ? 1.0 : ftell($this->stream) / max(1, (int) filesize($this->path));
    }

    #[Override]
    public function rejects(): ?RejectStore
    {
        return null;
    }

    #[Override]
    public function settle(bool $clean): void {}
}
