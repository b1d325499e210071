<?php

declare(strict_types=1);

namespace TrendVault\Writer\Sources;

use Override;

/** NDJSON from a pipe, plain or gzip. It can be read once. */
final readonly class StandardInput implements Source
{
    /** @param resource $stream */
    public function __construct(private mixed $stream) {}

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

    #[Override]
    public function progress(): ?float
    {
        return null;
    }

    #[Override]
    public function rejects(): ?RejectStore
    {
        return null;
    }

    #[Override]
    public function settle(bool $clean): void {}
}
