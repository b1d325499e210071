<?php

declare(strict_types=1);

namespace TrendVault\Writer\Ranking;

use TrendVault\Writer\Time\Rfc3339;
use TrendVault\Writer\WriterException;

final class ClockBackwards extends WriterException
{
    public static function before(int $now, int $publishedAt): self
    {
        [$clock, $newest] = [Rfc3339::format($now), Rfc3339::format($publishedAt)];

        return new self(
            "Cannot publish: the clock says $clock, but the newest generation is from $newest. Correct the clock;" .
                ' if it was wrong then and is right now, run `writer repair` once.',
        );
    }

    public static function beforeAllObservations(int $now, int $oldest): self
    {
        [$clock, $first] = [Rfc3339::format($now), Rfc3339::format($oldest)];

        return new self(
            "Cannot repair: the clock says $clock, but the first observation is from $first, so the clock is wrong. Correct it.",
        );
    }
}
