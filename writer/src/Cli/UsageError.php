<?php

declare(strict_types=1);

namespace TrendVault\Writer\Cli;

use TrendVault\Writer\WriterException;

final class UsageError extends WriterException
{
    /** @param list<string> $known */
    public static function unknownCommand(string $name, array $known): self
    {
        return self::because("Unknown command $name: expected one of " . implode(', ', $known) . '.');
    }

    /** @param list<Option> $options */
    public static function unknownOption(string $given, array $options): self
    {
        $known = array_map(static fn(Option $option): string => "--$option->name", $options);

        return self::because("Unknown option $given: expected one of " . implode(', ', $known) . '.');
    }

    public static function setting(string $name, string $value, string $expected): self
    {
        return self::because("Cannot read $name=$value: expected $expected.");
    }

    public static function because(string $sentence): self
    {
        return new self($sentence);
    }
}
