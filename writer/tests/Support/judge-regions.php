<?php

declare(strict_types=1);

// Reads region tables, one a line, and writes what is wrong with each as a JSON list: for tests in other languages.

use TrendVault\Writer\Database\BadRegionTable;
use TrendVault\Writer\Database\RegionTable;

require dirname(__DIR__, 2) . '/vendor/autoload.php';

while (($line = fgets(STDIN)) !== false) {
    try {
        RegionTable::read(rtrim($line, "\n"));
        echo "[]\n";
    } catch (BadRegionTable $bad) {
        echo json_encode(explode("\n", $bad->getMessage()), JSON_THROW_ON_ERROR), "\n";
    }
}
