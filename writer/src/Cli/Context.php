<?php

declare(strict_types=1);

namespace TrendVault\Writer\Cli;

use TrendVault\Writer\Time\Clock;

/** What every command is given. */
final readonly class Context
{
    public function __construct(
        public Settings $settings,
        public Clock $clock,
        public Streams $streams,
        public Log $log,
    ) {}
}
