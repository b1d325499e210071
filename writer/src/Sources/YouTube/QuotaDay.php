<?php

declare(strict_types=1);

namespace TrendVault\Writer\Sources\YouTube;

use DateTimeImmutable;
use DateTimeZone;

/** The day for which YouTube's quota is: from midnight to midnight Pacific time. All times are UTC seconds. */
final readonly class QuotaDay
{
    private function __construct(public int $beganAt, public int $endsAt) {}

    public static function at(int $now): self
    {
        $pacific = new DateTimeImmutable("@$now")->setTimezone(new DateTimeZone('America/Los_Angeles'));

        return new self(
            $pacific->modify('today')->getTimestamp(),
            $pacific->modify('tomorrow')->getTimestamp(),
        );
    }
}
