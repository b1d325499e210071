<?php

declare(strict_types=1);

namespace TrendVault\Writer\Ingest;

use TrendVault\Writer\Observations\ObservationParser;
use TrendVault\Writer\Observations\RejectedLine;
use TrendVault\Writer\Sources\Source;
use TrendVault\Writer\Sources\SourceFailure;

/** Moves archived data to the present: the newest observation is now, all others keep their distance to it. */
final readonly class TimeShift
{
    /**
     * @param list<Source> $sources read once here and once by ingest, so standard input is impossible
     * @return int seconds to add to every time
     * @throws SourceFailure when there is not one observation
     */
    public static function toNow(array $sources, ObservationParser $parser, int $now): int
    {
        $newest = $refusal = null;
        foreach ($sources as $source) {
            foreach ($source->lines() as $number => $line) {
                try {
                    $newest = max($newest, is_string($line) ? $parser->parse($line)?->observedAt : null);
                } catch (RejectedLine $rejected) {
                    // Ingesting rejects it.
                    $refusal ??= " Line $number: {$rejected->getMessage()}.";
                }
            }
        }

        return $newest === null
            ? throw SourceFailure::because(
                'Cannot shift to now: the sources have no observation that can be read. Expected NDJSON, as docs/observations.md describes it.' .
                    $refusal,
            )
            : $now - $newest;
    }
}
