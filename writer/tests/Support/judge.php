<?php

declare(strict_types=1);

// Judges what it reads, one a line, for tests in other languages. With the word lines: why a line of NDJSON is rejected, or
// which kind of line it is. With regions or editorial: what is wrong with such a file, as a JSON list.

use TrendVault\Writer\Database\RegionTable;
use TrendVault\Writer\Editorial\Editorial;
use TrendVault\Writer\Observations\Announcement;
use TrendVault\Writer\Observations\ObservationParser;
use TrendVault\Writer\Observations\RejectedLine;
use TrendVault\Writer\Observations\Removal;
use TrendVault\Writer\WriterException;

require dirname(__DIR__, 2) . '/vendor/autoload.php';

$table = RegionTable::read((string) file_get_contents(dirname(__DIR__, 3) . '/db/regions.json'));
$parser = new ObservationParser($table->ownership(), PHP_INT_MAX - 1000);
$kindOf = static function (string $line) use ($parser): string {
    try {
        $parsed = $parser->parse($line);
    } catch (RejectedLine $rejected) {
        return "rejected: {$rejected->getMessage()}";
    }

    return match (true) {
        in_array(null, [...$parsed->restrictions ?? [], ...$parsed->details ?? []], true) => 'held',
        $parsed instanceof Removal => 'removal',
        $parsed instanceof Announcement => 'catalogue',
        $parsed === true => 'complete',
        default => 'observation',
    };
};
$faultsOf = static function (callable $read): string {
    try {
        $read();

        return '[]';
    } catch (WriterException $bad) {
        return json_encode(explode("\n", $bad->getMessage()), JSON_THROW_ON_ERROR);
    }
};
while (($line = fgets(STDIN)) !== false) {
    $text = rtrim($line, "\n");
    echo match ($argv[1]) {
    'lines' => $kindOf($text),
    'regions' => $faultsOf(static fn() => RegionTable::read($text)),
    'editorial' => $faultsOf(static fn() => Editorial::read($text, null, PHP_INT_MAX)),
},
        "\n";
}
