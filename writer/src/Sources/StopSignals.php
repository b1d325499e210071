<?php

declare(strict_types=1);

namespace TrendVault\Writer\Sources;

use Generator;
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

/** Ends the reading of a file whose time is up, whatever its chunks unpack to, and of any file when the run is stopped. */
final readonly class ReadingTime
{
    /**
     * @param iterable<string> $chunks
     * @param ?int $seconds for all chunks together and what is done with them; null for no limit
     * @return Generator<string>
     * @throws SourceFailure|Stopped
     */
    public static function limit(iterable $chunks, ?int $seconds, string $path): Generator
    {
        $started = hrtime(true);
        foreach ($chunks as $chunk) {
            StopSignals::check();
            if ($seconds !== null && hrtime(true) - $started > $seconds * 1_000_000_000) {
                throw SourceFailure::tooSlow($path, $seconds);
            }
            yield $chunk;
        }
    }
}
