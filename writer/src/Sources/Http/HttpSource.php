<?php

declare(strict_types=1);

namespace TrendVault\Writer\Sources\Http;

use Override;
use Psr\Clock\ClockInterface;
use TrendVault\Writer\Sources\ByteStream;
use TrendVault\Writer\Sources\FileName;
use TrendVault\Writer\Sources\LineReader;
use TrendVault\Writer\Sources\ReadingTime;
use TrendVault\Writer\Sources\RejectStore;
use TrendVault\Writer\Sources\RemoteSource;
use TrendVault\Writer\Sources\SourceFailure;

/** A file of NDJSON on an HTTP server, plain or gzip: a data warehouse's export, an answer of a database, an object. */
final class HttpSource implements RemoteSource
{
    private ?Download $download = null;
    private bool $isRead = false;

    /** @param int $readingSeconds what reading it may take once it is here */
    public function __construct(
        private readonly HttpUrl $url,
        private readonly Downloader $downloader,
        private readonly KnownVersions $versions,
        private readonly ClockInterface $clock,
        private readonly int $readingSeconds,
    ) {}

    #[Override]
    public function name(): string
    {
        $path = FileName::withoutEnding($this->url->label());

        return trim((string) preg_replace('/[^a-z0-9.]+/i', '-', substr($path, 0, 120)), '-');
    }

    /** Two addresses can have one name: their queries are not in it. */
    #[Override]
    public function ownName(): string
    {
        return $this->name() . '-' . substr(hash('sha256', $this->url->url), 0, 8);
    }

    /** None when nothing has changed since it was read. */
    #[Override]
    public function lines(): iterable
    {
        $this->download = $this->fetch();
        if ($this->download === null) {
            $this->versions->saveUnchanged($this->url->url, $this->now());

            return;
        }
        $chunks = ByteStream::chunks($this->download->stream, $this->url->label());
        yield from LineReader::lines(ReadingTime::limit($chunks, $this->readingSeconds, $this->url->label()));
        $this->isRead = true;
    }

    #[Override]
    public function progress(): ?float
    {
        return $this->download === null
            ? null
            : ftell($this->download->stream) / max(1, $this->download->bytes);
    }

    #[Override]
    public function rejects(): ?RejectStore
    {
        return null;
    }

    /** What was read to its end is not read again, whatever was rejected of it: the same lines would be again. */
    #[Override]
    public function settle(bool $clean): void
    {
        if ($this->isRead) {
            $this->versions->saveRead($this->url->url, $this->download?->etag, $this->now());
        }
    }

    /** @throws SourceFailure */
    private function fetch(): ?Download
    {
        try {
            return $this->downloader->fetch($this->url, $this->versions->etag($this->url->url));
        } catch (HttpPause $pause) {
            $this->versions->savePause($this->url->url, $this->now() + $pause->seconds, $this->now());
            throw SourceFailure::because($pause->getMessage());
        }
    }

    private function now(): int
    {
        return $this->clock->now()->getTimestamp();
    }
}
