<?php

declare(strict_types=1);

namespace TrendVault\Writer\Sources;

use Generator;
use InflateContext;

/** Chunks of a stream's bytes, unpacked when they are gzip (RFC 1952), whatever the file is called. */
final class ByteStream
{
    private const int CHUNK_BYTES = 256 * 1024;
    /** Unpacking may make a chunk a thousand times larger. */
    private const int PACKED_CHUNK_BYTES = 4 * 1024;
    private const string GZIP_MAGIC = "\x1f\x8b";

    /**
     * @param resource $stream
     * @return Generator<string>
     * @throws SourceFailure when there is nothing, or gzip data is damaged or truncated
     */
    public static function chunks(mixed $stream, string $name): Generator
    {
        $head = (string) fread($stream, self::PACKED_CHUNK_BYTES);
        if ($head === '') {
            throw SourceFailure::empty($name);
        }
        if (str_starts_with($head, self::GZIP_MAGIC)) {
            yield from self::unpacked($stream, $head, $name);

            return;
        }
        for (
            $chunk = $head;
            $chunk !== '' || !feof($stream);
            $chunk = (string) fread($stream, self::CHUNK_BYTES)
        ) {
            yield $chunk;
        }
    }

    /**
     * @param resource $stream
     * @return Generator<string>
     */
    private static function unpacked(mixed $stream, string $packed, string $name): Generator
    {
        $inflate = self::nextMember();
        for (
            $read = 0;
            $packed !== '' || !feof($stream);
            $packed = (string) fread($stream, self::PACKED_CHUNK_BYTES)
        ) {
            while ($packed !== '') {
                $bytes = @inflate_add($inflate, $packed);
                if ($bytes === false) {
                    throw SourceFailure::damagedGzip($name);
                }
                yield $bytes;
                [$packed, $read, $inflate] = self::afterMember($inflate, $packed, $read);
            }
        }
        if ($read !== 0) {
            throw SourceFailure::damagedGzip($name);
        }
    }

    /**
     * gzip files may be several members one after the other; PHP's inflate stops at the end of each.
     *
     * @param int $read packed bytes of the member before this chunk
     * @return array{string, int, InflateContext} what is left of the chunk, the member's bytes so far, the member
     */
    private static function afterMember(InflateContext $inflate, string $packed, int $read): array
    {
        return inflate_get_status($inflate) === ZLIB_STREAM_END
            ? [substr($packed, inflate_get_read_len($inflate) - $read), 0, self::nextMember()]
            : ['', inflate_get_read_len($inflate), $inflate];
    }

    private static function nextMember(): InflateContext
    {
        return inflate_init(ZLIB_ENCODING_GZIP) ?:
            throw SourceFailure::because('Cannot unpack gzip: PHP\'s zlib cannot be initialised.');
    }
}
