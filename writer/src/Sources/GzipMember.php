<?php

declare(strict_types=1);

namespace TrendVault\Writer\Sources;

use HashContext;
use InflateContext;

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
