<?php

declare(strict_types=1);

namespace TrendVault\Writer\Sources;

use TrendVault\Writer\WriterException;

/**
 * SIGTERM and SIGINT while a claimed file is read: they end the run at the next chunk, so that the file can be given
 * back. At all other times they end the process at once, which loses nothing. Without PHP's pcntl they always do.
 */
final class StopSignals
{
    private static bool $isStopping = false;

    public static function hold(): void
    {
        self::handle(static function (): void {
            self::$isStopping = true;
        });
    }

    /** @throws Stopped when one came since hold() */
    public static function release(): void
    {
        self::handle(null);
        self::check();
    }

    /** @throws Stopped when one came */
    public static function check(): void
    {
        if (self::$isStopping) {
            self::$isStopping = false;
            throw Stopped::bySignal();
        }
    }

    private static function handle(?callable $handler): void
    {
        if (extension_loaded('pcntl')) {
            pcntl_async_signals(true);
            foreach ([SIGTERM, SIGINT] as $signal) {
                pcntl_signal($signal, $handler ?? SIG_DFL);
            }
        }
    }
}

final class Stopped extends WriterException
{
    public static function bySignal(): self
    {
        return new self(
            'Stopped by a signal while a file was read: what was stored stays, and the next run reads the file again.',
        );
    }
}
