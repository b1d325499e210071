<?php

declare(strict_types=1);

namespace TrendVault\Writer\Sources;

use Override;

/** A file of NDJSON, plain or gzip. */
final readonly class NdjsonFile implements Source
{
    public function __construct(private string $path)
    {
    }

    #[Override]
    public function name(): string
    {
        return preg_replace('/\.ndjson(\.gz)?$|\.gz$/', '', basename($this->path));
    }

    #[Override]
    public function lines(): iterable
    {
        $stream = @fopen($this->path, 'rb')
            ?: throw (file_exists($this->path) ? SourceFailure::unreadable($this->path) : SourceFailure::missing($this->path));
        try {
            yield from LineReader::lines(ByteStream::chunks($stream, $this->path));
        } finally {
            fclose($stream);
        }
    }
}
