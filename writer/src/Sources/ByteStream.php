<?php

declare(strict_types=1);

namespace TrendVault\Writer\Sources;

use Generator;

/** Chunks of a stream's bytes, unpacked when they are gzip (RFC 1952), whatever the file is called. */
final class ByteStream
{
    private const int CHUNK_BYTES = 256 * 1024;
    private const int PACKED_CHUNK_BYTES = 4 * 1024;
    /**
     * Unpacking may make a piece a thousand times larger, and of a piece with damaged data PHP gives nothing. Such
     * small pieces take no longer than large ones.
     */
    private const int PIECE_BYTES = 64;

    /**
     * @param resource $stream
     * @return Generator<string> of bounded size, whatever the stream has
     * @throws SourceFailure when there is nothing, it cannot be read to its end, or gzip data is damaged or truncated
     */
    public static function chunks(mixed $stream, string $name): Generator
    {
        $head = '';
        while (strlen($head) < strlen(GzipHeader::MAGIC) && !feof($stream)) {
            // a pipe may give a single byte
            $head .= self::read($stream, self::PACKED_CHUNK_BYTES, $name);
        }
        if ($head === '') {
            throw SourceFailure::empty($name);
        }
        if (str_starts_with($head, GzipHeader::MAGIC)) {
            yield from self::unpacked($stream, $head, $name);

            return;
        }
        for (
            $chunk = $head;
            $chunk !== '' || !feof($stream);
            $chunk = self::read($stream, self::CHUNK_BYTES, $name)
        ) {
            yield $chunk;
        }
    }

    /**
     * gzip files may be several members one after the other.
     *
     * @param resource $stream
     * @return Generator<string>
     */
    private static function unpacked(mixed $stream, string $chunk, string $name): Generator
    {
        $member = new GzipMember();
        while ($chunk !== '' || !feof($stream)) {
            foreach (str_split($chunk, self::PIECE_BYTES) as $piece) {
                while ($piece !== '') {
                    yield $member->unpack($piece) ?? throw SourceFailure::damagedGzip($name);
                    $isIntact = $member->isIntact($piece);
                    if ($isIntact === false) {
                        throw SourceFailure::damagedGzip($name);
                    }
                    $member = $isIntact === true ? new GzipMember() : $member;
                }
            }
            $chunk = self::read($stream, self::PACKED_CHUNK_BYTES, $name);
        }
        if ($member->isOpen()) {
            throw SourceFailure::damagedGzip($name);
        }
    }

    /**
     * @param resource $stream
     * @throws SourceFailure
     */
    private static function read(mixed $stream, int $bytes, string $name): string
    {
        $chunk = @fread($stream, $bytes);

        return $chunk === false ? throw SourceFailure::broken($name) : $chunk;
    }
}
