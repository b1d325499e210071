<?php

declare(strict_types=1);

namespace TrendVault\Writer\Sources\PeerTube;

use TrendVault\Writer\Sources\PlatformFailure;

/** A page that was not answered as wanted. */
final class InstanceFailure extends PlatformFailure
{
    /** @param int $retryAfterSeconds how long the instance asks us to wait; 0 when it does not */
    public static function because(string $sentence, int $retryAfterSeconds = 0): self
    {
        return new self($sentence, $retryAfterSeconds);
    }
}
