<?php

declare(strict_types=1);

namespace TrendVault\Writer\Cli;

use TrendVault\Writer\WriterException;

final class OutputFailure extends WriterException
{
    public static function ofStandardOutput(): self
    {
        return new self(
            'Cannot write the result to standard output: the disk is full, or nobody reads the pipe.',
        );
    }
}
