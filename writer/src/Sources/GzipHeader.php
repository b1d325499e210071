<?php

declare(strict_types=1);

namespace TrendVault\Writer\Sources;

/** The start of a gzip member (RFC 1952, section 2.3). */
final readonly class GzipHeader
{
    public const string MAGIC = "\x1f\x8b";

    private const int FIXED_BYTES = 10;
    private const int DEFLATE = 8;
    private const int HAS_CHECKSUM = 2;
    private const int HAS_EXTRA = 4;
    private const int HAS_NAME = 8;
    private const int HAS_COMMENT = 16;
    private const int RESERVED = 0xe0;

    /** @return int|false|null how many bytes it has; null when more bytes are needed, false when it is none */
    public static function length(string $bytes): int|false|null
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
