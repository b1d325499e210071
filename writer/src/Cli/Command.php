<?php

declare(strict_types=1);

namespace TrendVault\Writer\Cli;

use TrendVault\Writer\WriterException;

interface Command
{
    public function description(): Description;

    /** @throws WriterException */
    public function run(Arguments $arguments, Context $context): ExitCode;
}
