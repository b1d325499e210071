<?php

declare(strict_types=1);

namespace TrendVault\Writer\Sources;

use Generator;
use HashContext;
use InflateContext;
use TrendVault\Writer\Observations\RejectionReason;

/** Splits chunks of bytes into lines; holds at most one chunk and one line of LONGEST_BYTES. */
final readonly class LineReader
{
    public const int LONGEST_BYTES = 1024 * 1024;
    private const string BYTE_ORDER_MARK = "\xEF\xBB\xBF";

    /**
     * Empty lines are counted, not given.
     *
     * @param iterable<string> $chunks
     * @return Generator<int, string|LineFragment>
     * @throws SourceFailure as the chunks do, after what came before
     */
    public static function lines(iterable $chunks): Generator
    {
        [$number, $rest, $overlong] = [1, '', false];
        $chunks = self::withoutMark($chunks);
        try {
            foreach ($chunks as $chunk) {
                $lines = explode("\n", $rest . $chunk);
                $rest = array_pop($lines);
                if ($overlong && $lines !== []) {
                    yield $number++ => new LineFragment(array_shift($lines) . "\n", RejectionReason::TooLong);
                    $overlong = false;
                }
                foreach ($lines as $line) {
                    if (strlen($line) > self::LONGEST_BYTES) {
                        yield $number => new LineFragment("$line\n", RejectionReason::TooLong);
                    } elseif ($line !== '' && $line !== "\r") {
                        yield $number => $line;
                    }
                    $number++;
                }
                if ($overlong || strlen($rest) > self::LONGEST_BYTES) {
                    yield $number => new LineFragment($rest, null);
                    [$rest, $overlong] = ['', true];
                }
            }
        } catch (SourceFailure $failure) {
            yield from self::unfinished($number, $rest, $overlong);
            throw $failure;
        }
        yield from self::unfinished($number, $rest, $overlong);
    }

    /**
     * A UTF-8 byte order mark is no part of the first line (RFC 8259, section 8.1).
     *
     * @param iterable<string> $chunks
     * @return Generator<string>
     */
    private static function withoutMark(iterable $chunks): Generator
    {
        $head = '';
        foreach ($chunks as $chunk) {
            $head = $head === null ? null : $head . $chunk;
            if ($head === null) {
                yield $chunk;
            } elseif (strlen($head) >= strlen(self::BYTE_ORDER_MARK)) {
                yield str_starts_with($head, self::BYTE_ORDER_MARK)
                    ? substr($head, strlen(self::BYTE_ORDER_MARK))
                    : $head;
                $head = null;
            }
        }
        yield $head ?? '';
    }

    /**
     * What follows the last line end: a whole line whose end was forgotten, or the start of one.
     *
     * @return Generator<int, string|LineFragment>
     */
    private static function unfinished(int $number, string $rest, bool $overlong): Generator
    {
        if ($overlong) {
            yield $number => new LineFragment("$rest\n", RejectionReason::TooLong);
        } elseif ($rest !== '') {
            yield $number => json_validate($rest)
                ? $rest
                : new LineFragment("$rest\n", RejectionReason::CutOff);
        }
    }
}

/** A piece of a line that is too long to hold in memory, or of one that was cut off. */
final readonly class LineFragment
{
    /** @param ?RejectionReason $end why the line is rejected, on its last piece */
    public function __construct(public string $bytes, public ?RejectionReason $end) {}
}

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
     * @param ?int $timeoutSeconds for all chunks together and what is done with them; null for no limit
     * @return Generator<string> of bounded size, whatever the stream has
     * @throws SourceFailure when there is nothing, it cannot be read to its end in time, or gzip data is damaged or truncated
     * @throws Stopped when the run is stopped
     */
    public static function chunks(mixed $stream, string $name, ?int $timeoutSeconds = null): Generator
    {
        $started = hrtime(true);
        foreach (self::bytes($stream, $name) as $chunk) {
            StopSignals::check();
            if ($timeoutSeconds !== null && hrtime(true) - $started > $timeoutSeconds * 1_000_000_000) {
                throw SourceFailure::tooSlow($name, $timeoutSeconds);
            }
            yield $chunk;
        }
    }

    /**
     * @param resource $stream
     * @return Generator<string>
     */
    private static function bytes(mixed $stream, string $name): Generator
    {
        $head = '';
        while (strlen($head) < strlen(GzipMember::MAGIC) && !feof($stream)) {
            // a pipe may give a single byte
            $head .= self::read($stream, self::PACKED_CHUNK_BYTES, $name);
        }
        if ($head === '') {
            throw SourceFailure::empty($name);
        }
        if (str_starts_with($head, GzipMember::MAGIC)) {
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

/**
 * Unpacks one member of a gzip file (RFC 1952). It checks the sum itself, after it has given the bytes: PHP's own
 * gzip mode keeps what it unpacked last for itself when the sum is wrong.
 */
final class GzipMember
{
    public const string MAGIC = "\x1f\x8b";

    private const int FIXED_BYTES = 10;
    private const int DEFLATE = 8;
    private const int HAS_CHECKSUM = 2;
    private const int HAS_EXTRA = 4;
    private const int HAS_NAME = 8;
    private const int HAS_COMMENT = 16;
    private const int RESERVED = 0xe0;
    private const int TRAILER_BYTES = 8;
    private const int LONGEST_HEADER_BYTES = 1024 * 1024;
    private const int MODULO = 2 ** 32;

    /** Null while the header is not complete. */
    private ?InflateContext $inflate = null;
    private HashContext $checksum;
    private int $length = 0;
    /** Bytes of the header or the trailer, until they are complete. */
    private string $pending = '';
    private bool $hasEnded = false;

    public function __construct()
    {
        $this->checksum = hash_init('crc32b');
    }

    /** Whether bytes of it were read, but not its last. */
    public function isOpen(): bool
    {
        return $this->inflate !== null || $this->pending !== '';
    }

    /**
     * @param string $packed is cut down to what is behind the member
     * @return ?string the unpacked bytes; null when the packed ones are damaged
     */
    public function unpack(string &$packed): ?string
    {
        if ($this->inflate === null && !$this->readHeader($packed)) {
            return null;
        }
        if ($this->inflate === null || $this->hasEnded) {
            return '';
        }
        $before = inflate_get_read_len($this->inflate);
        $bytes = @inflate_add($this->inflate, $packed);
        if ($bytes === false) {
            return null;
        }
        $this->hasEnded = inflate_get_status($this->inflate) === ZLIB_STREAM_END;
        $packed = $this->hasEnded ? substr($packed, inflate_get_read_len($this->inflate) - $before) : '';
        hash_update($this->checksum, $bytes);
        $this->length += strlen($bytes);

        return $bytes;
    }

    /**
     * Reads the trailer, once the bytes before it are unpacked.
     *
     * @param string $packed is cut down to what is behind the member
     * @return ?bool whether the sum and the length are right; null while bytes are missing
     */
    public function isIntact(string &$packed): ?bool
    {
        if (!$this->hasEnded) {
            return null;
        }
        $missing = self::TRAILER_BYTES - strlen($this->pending);
        $this->pending .= substr($packed, 0, $missing);
        $packed = substr($packed, $missing);
        if (strlen($this->pending) < self::TRAILER_BYTES) {
            return null;
        }
        $checksum = strrev(hash_final($this->checksum, true));

        return $this->pending === $checksum . pack('V', $this->length % self::MODULO);
    }

    /** @return bool false when it is no header */
    private function readHeader(string &$packed): bool
    {
        $this->pending .= $packed;
        $length = self::headerLength($this->pending);
        if ($length === false || ($length === null && strlen($this->pending) > self::LONGEST_HEADER_BYTES)) {
            return false;
        }
        $packed = $length === null ? '' : substr($this->pending, $length);
        if ($length !== null) {
            $this->pending = '';
            $this->inflate = inflate_init(ZLIB_ENCODING_RAW) ?: null;
        }

        return true;
    }

    /** @return int|false|null how many bytes the header has (section 2.3); null when more are needed, false when it is none */
    private static function headerLength(string $bytes): int|false|null
    {
        if (!str_starts_with(self::MAGIC, substr($bytes, 0, 2))) {
            return false;
        }
        if (strlen($bytes) < self::FIXED_BYTES) {
            return null;
        }
        $flags = ord($bytes[3]);
        if (ord($bytes[2]) !== self::DEFLATE || ($flags & self::RESERVED) !== 0) {
            return false;
        }
        $length = self::FIXED_BYTES;
        if (($flags & self::HAS_EXTRA) !== 0) {
            $length += strlen($bytes) < $length + 2 ? 2 : 2 + unpack('v', $bytes, $length)[1];
        }
        foreach ([self::HAS_NAME, self::HAS_COMMENT] as $text) {
            if (($flags & $text) !== 0) {
                $end = $length > strlen($bytes) ? false : strpos($bytes, "\0", $length);
                if ($end === false) {
                    return null;
                }
                $length = $end + 1;
            }
        }
        $length += ($flags & self::HAS_CHECKSUM) === 0 ? 0 : 2;

        return $length <= strlen($bytes) ? $length : null;
    }
}
