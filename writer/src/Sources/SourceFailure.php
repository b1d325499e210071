<?php

declare(strict_types=1);

namespace TrendVault\Writer\Sources;

use TrendVault\Writer\WriterException;

final class SourceFailure extends WriterException
{
    public static function missing(string $path): self
    {
        return self::because("Cannot read $path: there is no such file or folder.");
    }

    public static function unreadable(string $path): self
    {
        return self::because("Cannot read $path: permission denied.");
    }

    public static function emptyFolder(string $path): self
    {
        return self::because(
            "Cannot read $path: expected .ndjson or .ndjson.gz files in the folder, found none.",
        );
    }

    public static function empty(string $name): self
    {
        return self::because("Source $name is empty: expected at least one observation.");
    }

    public static function cutOff(string $name): self
    {
        return self::because(
            "Source $name ended in the middle of a line. That line was rejected; all lines before it are stored.",
        );
    }

    public static function damagedGzip(string $path): self
    {
        return self::because("Cannot read $path to its end: the gzip data is damaged or truncated.");
    }

    public static function because(string $sentence): self
    {
        return new self($sentence);
    }
}
