<?php

declare(strict_types=1);

namespace TrendVault\Writer\Time;

interface Clock
{
    /** UTC seconds since 1970. */
    public function now(): int;
}
