<?php

declare(strict_types=1);

namespace TrendVault\Writer\Ingest;

use TrendVault\Writer\Database\Database;
use TrendVault\Writer\Database\Run;

/** Which sources failed in a run, once each. They go with the run. */
final readonly class SourceFailures
{
    private const int MOST_CHARACTERS = 120;

    public function __construct(private Database $database, private Run $run) {}

    /** @param string $label kind and host of the source: no credential, no path, no query */
    public function add(string $label): void
    {
        $this->database->run('INSERT OR IGNORE INTO source_failures (run_id, source) VALUES (?, ?)', [
            $this->run->id,
            mb_substr($label, 0, self::MOST_CHARACTERS),
        ]);
    }
}
