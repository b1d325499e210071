<?php

declare(strict_types=1);

namespace TrendVault\Writer\Sources\YouTube;

use Exception;

/** The quota or the key is refused: requests for other regions would be, too. */
final class Refused extends Exception
{
    public static function quota(): self
    {
        return new self(
            'YouTube\'s quota for today is used up; it resets at midnight Pacific time. Raise YOUTUBE_INTERVAL_SECONDS, or apply for more quota.',
        );
    }

    public static function key(): self
    {
        return new self(
            'YouTube refuses the key in YOUTUBE_API_KEY: expected one that is allowed to use the YouTube Data API v3 from this machine.',
        );
    }
}
