<?php

declare(strict_types=1);

// Reads lines of NDJSON and writes for each why it is rejected, or which kind of line it is: for tests in other languages.

use TrendVault\Writer\Database\RegionTable;
use TrendVault\Writer\Observations\Announcement;
use TrendVault\Writer\Observations\ObservationParser;
use TrendVault\Writer\Observations\RejectedLine;
use TrendVault\Writer\Observations\Removal;

require dirname(__DIR__, 2) . '/vendor/autoload.php';

$table = RegionTable::read((string) file_get_contents(dirname(__DIR__, 3) . '/db/regions.json'));
$parser = new ObservationParser($table->ownership(), PHP_INT_MAX - 1000);
while (($line = fgets(STDIN)) !== false) {
    $line = rtrim($line, "\n");
    try {
        $parsed = $parser->parse($line);
        echo match (true) {
        in_array(null, $parsed->restrictions ?? [], true) => 'held',
        $parsed instanceof Removal => 'removal',
        $parsed instanceof Announcement => 'catalogue',
        $parsed === true => 'complete',
        default => 'observation',
    },
            "\n";
    } catch (RejectedLine $rejected) {
        echo "rejected: {$rejected->getMessage()}\n";
    }
}
