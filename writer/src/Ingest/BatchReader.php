<?php

declare(strict_types=1);

namespace TrendVault\Writer\Ingest;

use Generator;
use TrendVault\Writer\Sources\Source;
use TrendVault\Writer\Sources\SourceFailure;

/** Collects lines before they are stored, so that no transaction is open while the writer waits for a source. */
final readonly class BatchReader
{
    /**
     * @return Generator<Batch>
     * @throws SourceFailure after the last lines that the source gave
     */
    public static function batches(Source $source): Generator
    {
        $batch = new Batch();
        try {
            foreach ($source->lines() as $number => $line) {
                $batch->add($number, $line);
                if ($batch->isFull()) {
                    yield $batch;
                    $batch = new Batch();
                }
            }
        } catch (SourceFailure $failure) {
            yield $batch;
            throw $failure;
        }
        yield $batch;
    }
}
