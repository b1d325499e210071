<?php

declare(strict_types=1);

namespace TrendVault\Writer\Sources\PeerTube;

use TrendVault\Writer\Sources\PlatformFailure;

/** A page that was not answered as wanted. */
final class InstanceFailure extends PlatformFailure
{
    /** Whether requests for other pages would fail, too. */
    public bool $isRefusal = false;

    public static function because(string $sentence): self
    {
        return new self($sentence);
    }

    /** @param int $retryAfterSeconds how long the instance asks us to wait; 0 when it does not */
    public static function refusal(string $sentence, int $retryAfterSeconds = 0): self
    {
        $failure = new self($sentence, $retryAfterSeconds);
        $failure->isRefusal = true;

        return $failure;
    }
}
