<?php

declare(strict_types=1);

namespace TrendVault\Writer\Sources\YouTube;

use Exception;

/** No other market needs to be asked: the answer would be the same. */
final class Refused extends Exception
{
    public static function quota(): self
    {
        return new self(
            'YouTube\'s quota for today is used up; it is renewed at midnight Pacific time. Ask less often (YOUTUBE_INTERVAL_SECONDS) or for more quota.',
        );
    }

    public static function key(): self
    {
        return new self(
            'YouTube refuses the key in YOUTUBE_API_KEY: expected one that may use the YouTube Data API v3 from this machine.',
        );
    }
}
