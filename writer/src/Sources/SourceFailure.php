<?php

declare(strict_types=1);

namespace TrendVault\Writer\Sources;

use TrendVault\Writer\ExitCode;
use TrendVault\Writer\WriterException;

final class SourceFailure extends WriterException
{
    /** Whether the same lines could be taken: an operator may allow it. */
    public bool $mayBeAllowed = false;
    /** For how long the source asks to be left alone. */
    public int $pauseSeconds = 0;
    /** How its server held the run without an answer; null when it did not. */
    public ?string $silence = null;

    public static function missing(string $path): self
    {
        return self::because(
            is_link($path)
                ? "Cannot read $path: the link leads to nothing."
                : "Cannot read $path: there is no such file or folder.",
        );
    }

    /** @param string $forms how other sources are named */
    public static function unknown(string $name, string $forms): self
    {
        return match (true) {
            file_exists($name) => self::notAFile($name),
            is_link($name) => self::missing($name),
            default => self::because(
                "Cannot read $name: there is no such file or folder. Expected $forms, a file or a folder.",
            ),
        };
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

    public static function notAFile(string $path): self
    {
        return self::because("Cannot read $path: expected a file, it is a folder, a pipe or a device.");
    }

    public static function theDatabase(string $path): self
    {
        return self::because("Cannot read $path: it is the database.");
    }

    public static function broken(string $name): self
    {
        return self::because("Cannot read $name to its end: the file system reports an error.");
    }

    public static function shorter(string $name): self
    {
        return self::because("Cannot read $name to its end: it has less than the file system says.");
    }

    public static function tooSlow(string $path, int $seconds): self
    {
        return self::because(
            "Did not read $path to its end: it took longer than SOURCE_TIMEOUT_SECONDS=$seconds. The lines until then are stored.",
        );
    }

    public static function vanished(string $path): self
    {
        return self::because("Cannot read $path: it was removed before it was read.");
    }

    public static function stillWritten(string $path): self
    {
        return self::because(
            "$path is still being written: the next run reads it again. Rename a file into the spool when it is complete.",
        );
    }

    public static function runsDied(string $path, int $runs): self
    {
        return self::because(
            "Did not read $path: $runs runs died while they read it. Check the file, then put it back.",
        );
    }

    public static function cannotMove(string $path, string $folder): self
    {
        return self::because(
            "Cannot move $path to $folder: permission denied, or that is no folder. Its lines are stored; the next run reads the file again.",
        );
    }

    /**
     * What was rejected cannot be kept.
     *
     * @param bool $losesLines whether the lines were to be kept there, not only a report of them
     */
    public static function unkept(string $path, bool $losesLines): self
    {
        $consequence = $losesLines
            ? 'All other lines are stored; rejected lines of a pipe are lost.'
            : 'All other lines are stored; the next run reads the file again.';

        return self::because(
            "Cannot write to $path what was rejected: the disk is full, or permission was denied. $consequence",
        );
    }

    /** A complete catalogue has so few of its videos that they do not leave: its lines are stored. */
    public static function leaving(string $sentence): self
    {
        $failure = self::because($sentence);
        $failure->mayBeAllowed = true;

        return $failure;
    }

    public static function pause(string $sentence, int $seconds): self
    {
        $failure = self::because($sentence);
        $failure->pauseSeconds = $seconds;

        return $failure;
    }

    /** @param string $silence how its server held the run, and what to do */
    public static function silent(string $sentence, string $silence): self
    {
        $failure = self::because("$sentence: $silence Nothing of it is stored.");
        $failure->silence = $silence;

        return $failure;
    }

    public static function because(string $sentence): self
    {
        return new self($sentence, ExitCode::SourceFailed);
    }
}
