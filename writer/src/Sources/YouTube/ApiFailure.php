<?php

declare(strict_types=1);

namespace TrendVault\Writer\Sources\YouTube;

use Override;
use TrendVault\Writer\Sources\PlatformFailure;
use TrendVault\Writer\Sources\Schedule;

/** A page that was not answered as wanted. */
final class ApiFailure extends PlatformFailure
{
    private const int QUOTA_SPREAD_SECONDS = 300;

    /** @param int $retryAfterSeconds how long the server asks us to wait; 0 when it does not */
    public function __construct(string $message, public readonly ApiError $error, int $retryAfterSeconds = 0)
    {
        parent::__construct($message, $retryAfterSeconds);
    }

    public static function of(ApiError $error, int $status, string $region, int $retryAfterSeconds): self
    {
        $message = match ($error) {
            ApiError::QuotaExceeded
                => 'YouTube\'s quota for today is used up; it resets at midnight Pacific time, and nothing is asked before. Raise YOUTUBE_INTERVAL_SECONDS, or apply for more quota.',
            ApiError::KeyRefused
                => 'YouTube refuses the key in YOUTUBE_API_KEY: expected one that is allowed to use the YouTube Data API v3 from this machine.',
            ApiError::Temporary => "YouTube does not answer for $region: status $status, after " .
                RetryPolicy::ATTEMPTS .
                ' attempts or the timeout.',
            ApiError::NoChart,
            ApiError::Unexpected
                => "YouTube answered the request for $region with status $status, an undocumented status.",
        };

        return new self($message, $error, $retryAfterSeconds);
    }

    public static function late(string $region): self
    {
        return new self(
            "YouTube took too long: the timeout was reached before $region.",
            ApiError::Temporary,
        );
    }

    #[Override]
    public function secondsToWait(int $intervalSeconds, int $now): int
    {
        return match ($this->error) {
            ApiError::QuotaExceeded => self::secondsToQuota($now),
            ApiError::KeyRefused => max($intervalSeconds, Schedule::FIRST_DELAY_SECONDS),
            default => $this->retryAfterSeconds,
        };
    }

    /** Until midnight Pacific time, when the quota is renewed, and a little longer: others wait for it, too. */
    private static function secondsToQuota(int $now): int
    {
        return QuotaDay::at($now)->endsAt - $now + random_int(0, self::QUOTA_SPREAD_SECONDS);
    }

    /** Whether requests for other regions would fail, too. */
    public function isRefusal(): bool
    {
        return $this->error === ApiError::QuotaExceeded || $this->error === ApiError::KeyRefused;
    }
}
