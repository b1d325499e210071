<?php

declare(strict_types=1);

namespace TrendVault\Writer\Sources\Edge;

use Exception;

/** A request that the edge did not answer as documented. */
final class EdgeFailure extends Exception
{
    /** @param bool $isRefusal whether requests for other shards would fail, too */
    public function __construct(string $message, public readonly bool $isRefusal = false)
    {
        parent::__construct($message);
    }

    public static function late(string $subject): self
    {
        return new self("The edge took too long: the timeout was reached before $subject.", isRefusal: true);
    }

    public static function noAnswer(string $subject, string $reason): self
    {
        return new self("The edge does not answer for $subject: $reason.");
    }

    public static function status(int $status, string $subject, string $detail): self
    {
        $said = $detail === '' ? '' : " ($detail)";

        return match ($status) {
            401, 403 => new self(
                "The edge refuses the signature of the request for $subject$said. Expected one key of VIEWS_KEYS at both, and clocks that differ by less than a minute.",
                isRefusal: true,
            ),
            404 => new self(
                'The edge does not count views: expected VIEWS_KEYS and the binding VIEWS to be set there.',
                isRefusal: true,
            ),
            default => self::noAnswer($subject, "status $status$said"),
        };
    }

    public static function garbage(string $subject, string $expected): self
    {
        return new self(
            "The edge answered the request for $subject with a body that is not the documented one: expected $expected. Nothing of it was stored.",
        );
    }
}
