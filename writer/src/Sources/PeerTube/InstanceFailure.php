<?php

declare(strict_types=1);

namespace TrendVault\Writer\Sources\PeerTube;

use Exception;

/** A page that was not answered as wanted. PeerTubeSource makes a SourceFailure of it. */
final class InstanceFailure extends Exception
{
    public int $retryAfterSeconds = 0;

    /** @param int $retryAfterSeconds how long the instance asks us to wait; 0 when it does not */
    public static function because(string $sentence, int $retryAfterSeconds = 0): self
    {
        $failure = new self($sentence);
        $failure->retryAfterSeconds = $retryAfterSeconds;

        return $failure;
    }
}
