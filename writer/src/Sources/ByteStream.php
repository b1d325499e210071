<?php

declare(strict_types=1);

namespace TrendVault\Writer\Sources;

use Generator;

/** Chunks of a stream's bytes, unpacked when they are gzip (RFC 1952), whatever the file is called. */
final class ByteStream
{
    public const int CHUNK_BYTES = 256 * 1024;
    /** Unpacking may make a chunk a thousand times larger. */
    private const int PACKED_CHUNK_BYTES = 4 * 1024;

    /**
     * @param resource $stream
     * @return Generator<string> of at most CHUNK_BYTES each
     * @throws SourceFailure when there is nothing, it cannot be read to its end, or gzip data is damaged or truncated
     */
    public static function chunks(mixed $stream, string $name): Generator
    {
        $head = self::read($stream, self::PACKED_CHUNK_BYTES, $name);
        if ($head === '') {
            throw SourceFailure::empty($name);
        }
        if (str_starts_with($head, GzipHeader::MAGIC)) {
            foreach (self::unpacked($stream, $head, $name) as $bytes) {
                yield from strlen($bytes) > self::CHUNK_BYTES ? self::slices($bytes) : [$bytes];
            }

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

    /** @return Generator<string> */
    private static function slices(string $bytes): Generator
    {
        for ($offset = 0; $offset < strlen($bytes); $offset += self::CHUNK_BYTES) {
            yield substr($bytes, $offset, self::CHUNK_BYTES);
        }
    }

    /**
     * gzip files may be several members one after the other.
     *
     * @param resource $stream
     * @return Generator<string>
     */
    private static function unpacked(mixed $stream, string $packed, string $name): Generator
    {
        $member = new GzipMember();
        for (
            ;
            $packed !== '' || !feof($stream);
            $packed = self::read($stream, self::PACKED_CHUNK_BYTES, $name)
        ) {
            while ($packed !== '') {
                $bytes = $member->unpack($packed);
                if ($bytes === null) {
                    throw SourceFailure::damagedGzip($name);
                }
                yield $bytes;
                $isIntact = $member->isIntact($packed);
                if ($isIntact === false) {
                    throw SourceFailure::damagedGzip($name);
                }
                $member = $isIntact === true ? new GzipMember() : $member;
            }
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
