<?php

declare(strict_types=1);

namespace TrendVault\Writer\Cli;

use TrendVault\Writer\WriterException;

final class UsageError extends WriterException
{
    public static function setting(string $name, string $value, string $expected): self
    {
        return self::because("Cannot read $name=$value: expected $expected.");
    }

    public static function because(string $sentence): self
    {
        return new self($sentence);
    }
}
