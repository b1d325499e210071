<?php

declare(strict_types=1);

// Reads region tables, or with the word editorial editorial files, one a line, and writes what is wrong with each as a
// JSON list: for tests in other languages.

use TrendVault\Writer\Database\RegionTable;
use TrendVault\Writer\Editorial\Editorial;
use TrendVault\Writer\WriterException;

require dirname(__DIR__, 2) . '/vendor/autoload.php';

while (($line = fgets(STDIN)) !== false) {
    try {
        ($argv[1] ?? '') === 'editorial'
            ? Editorial::read(rtrim($line, "\n"), null, PHP_INT_MAX)
            : RegionTable::read(rtrim($line, "\n"));
        echo "[]\n";
    } catch (WriterException $bad) {
        echo json_encode(explode("\n", $bad->getMessage()), JSON_THROW_ON_ERROR), "\n";
    }
}
