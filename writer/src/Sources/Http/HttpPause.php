<?php

declare(strict_types=1);

namespace TrendVault\Writer\Sources\Http;

use Exception;

/** A server that asks to be left alone for a while. HttpSource makes a SourceFailure of it. */
final class HttpPause extends Exception
{
    public int $seconds = 0;

    public static function because(HttpUrl $url, int $status, int $seconds): self
    {
        $pause = new self(
            "Cannot read {$url->label()}: the server answers $status, and asks for a pause of $seconds s. It is not asked before.",
        );
        $pause->seconds = $seconds;

        return $pause;
    }
}
