<?php

declare(strict_types=1);

namespace TrendVault\Writer\Sources;

use TrendVault\Writer\Time\Rfc3339;

/** A platform is waited for longer than the interval demands. */
final readonly class Pause
{
    /** @param int $until UTC seconds */
    public function __construct(public int $until, public string $reason) {}

    /** @return array{until: string, reason: string} with the time as RFC 3339 */
    public function facts(): array
    {
        return ['until' => Rfc3339::format($this->until), 'reason' => $this->reason];
    }

    public function text(): string
    {
        return 'not asked before ' . Rfc3339::format($this->until) . ": $this->reason";
    }
}
