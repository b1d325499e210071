<?php

declare(strict_types=1);

namespace TrendVault\Writer\Time;

use Override;

final readonly class SystemClock implements Clock
{
    #[Override]
    public function now(): int
    {
        return time();
    }
}
