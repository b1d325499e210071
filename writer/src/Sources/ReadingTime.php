<?php

declare(strict_types=1);

namespace TrendVault\Writer\Sources;

use Generator;

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
