<?php

declare(strict_types=1);

namespace TrendVault\Writer\Sources;

use Exception;

/** A request to a platform that was not answered as wanted. PlatformSource makes a SourceFailure of it. */
abstract class PlatformFailure extends Exception
{
    /** It is stored and logged, and may have words of the platform. */
    private const int MOST_CHARACTERS = 500;

    /** @param int $retryAfterSeconds how long the server asks us to wait; 0 when it does not */
    public function __construct(string $message, public readonly int $retryAfterSeconds = 0)
    {
        parent::__construct((string) PlainText::of(mb_scrub($message), self::MOST_CHARACTERS));
    }

    /**
     * For how long nothing is to be asked.
     *
     * @param int $intervalSeconds between two runs
     * @param int $now UTC seconds
     */
    public function secondsToWait(int $intervalSeconds, int $now): int
    {
        return $this->retryAfterSeconds;
    }
}
