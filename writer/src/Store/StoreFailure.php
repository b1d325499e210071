<?php

declare(strict_types=1);

namespace TrendVault\Writer\Store;

use TrendVault\Writer\WriterException;

/** The store did not do what was asked. What is in the local database is as it was. */
final class StoreFailure extends WriterException
{
    public static function unreachable(string $key, string $reason): self
    {
        return new self(
            "The store does not answer for $key: $reason. Check S3_ENDPOINT, and that the store is up.",
        );
    }

    public static function late(string $key, float $seconds): self
    {
        return new self(
            "The store took too long: $seconds seconds were over before $key was done. The next run catches up.",
        );
    }

    /** @param string $code of S3, such as AccessDenied; may be empty */
    public static function status(int $status, string $code, string $key): self
    {
        $said = $code === '' ? "status $status" : "status $status, $code";

        return new self(
            match (true) {
                $code === 'RequestTimeTooSkewed'
                    => "The store refuses $key: the clocks differ ($said). Set the clock.",
                $code === 'NoSuchBucket'
                    => "The store has no such bucket ($said for $key): create it, or correct the address.",
                $status === 401,
                $status === 403
                    => "The store refuses $key ($said): check S3_ACCESS_KEY_ID, S3_SECRET_ACCESS_KEY and S3_REGION, and that this key may read, write, list and delete.",
                $status === 507,
                $code === 'QuotaExceeded',
                $code === 'EntityTooLarge'
                    => "The store is full ($said for $key): free some space there, or raise its quota. The next run catches up.",
                default => "The store failed with $key ($said). The next run tries again.",
            },
        );
    }

    public static function tooLarge(string $key, int $mostBytes): self
    {
        return new self(
            "$key in the store has more than $mostBytes bytes, which nothing of ours has: look at who else writes there.",
        );
    }

    public static function garbage(string $key, string $expected): self
    {
        return new self("The store answered for $key with something else than $expected.");
    }

    /** After a write that it confirmed. */
    public static function lost(string $key, string $found): self
    {
        return new self("The store confirmed $key, but $found. The next run writes it again.");
    }

    public static function because(string $sentence): self
    {
        return new self($sentence);
    }
}
