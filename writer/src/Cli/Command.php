<?php

declare(strict_types=1);

namespace TrendVault\Writer\Cli;

interface Command
{
    public function description(): Description;

    /** @throws Failure */
    public function run(Arguments $arguments, Context $context): ExitCode;
}
