<?php

declare(strict_types=1);

namespace TrendVault\Writer\Ingest;

use Generator;
use TrendVault\Writer\Sources\LineFragment;
use TrendVault\Writer\Sources\Source;
use TrendVault\Writer\Sources\SourceFailure;

/** Collects lines before they are stored, so that no transaction is open while a source is waited for. */
final readonly class Batches
{
    /** Also bounds what one commit adds to the WAL. */
    private const int MOST_LINES = 5000;
    private const int MOST_BYTES = 4 * 1024 * 1024;

    /**
     * @return Generator<list<array{int, string|LineFragment}>> lines with their numbers
     * @throws SourceFailure after the last lines that the source gave
     */
    public static function of(Source $source): Generator
    {
        [$batch, $bytes] = [[], 0];
        try {
            foreach ($source->lines() as $number => $line) {
                $batch[] = [$number, $line];
                $bytes += strlen($line instanceof LineFragment ? $line->bytes : $line);
                if (count($batch) >= self::MOST_LINES || $bytes >= self::MOST_BYTES) {
                    yield $batch;
                    [$batch, $bytes] = [[], 0];
                }
            }
        } catch (SourceFailure $failure) {
            yield $batch;
            throw $failure;
        }
        yield $batch;
    }
}
