<?php

declare(strict_types=1);

namespace TrendVault\Writer\Sources;

use TrendVault\Writer\Observations\FieldReader;

/** Text of a platform, made fit for a line: the video can do nothing for its title. */
final readonly class PlainText
{
    /** Without the characters for which a line would be rejected, and cut to so many; null for what is no text. */
    public static function of(mixed $value, int $mostCharacters): ?string
    {
        return is_string($value)
            ? mb_substr(trim((string) preg_replace(FieldReader::FORBIDDEN, ' ', $value)), 0, $mostCharacters)
            : null;
    }
}
