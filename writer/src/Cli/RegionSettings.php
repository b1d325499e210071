<?php

declare(strict_types=1);

namespace TrendVault\Writer\Cli;

use TrendVault\Writer\Database\BadRegionTable;
use TrendVault\Writer\Database\RegionShare;
use TrendVault\Writer\Database\RegionTable;

/** What the environment says about the regions: which there are, and which of them are this writer's. */
final readonly class RegionSettings
{
    private const string FILE = 'REGIONS_FILE';
    private const string OWN = 'REGIONS';

    /** @throws UsageError */
    public static function table(Settings $settings): RegionTable
    {
        $file = $settings->regionsFile();
        if (!is_file($file) || !is_readable($file)) {
            throw UsageError::setting(self::FILE, $file, 'a file that this user can read');
        }
        try {
            return RegionTable::read((string) file_get_contents($file));
        } catch (BadRegionTable $bad) {
            throw UsageError::because('Cannot read ' . self::FILE . "=$file:\n{$bad->getMessage()}");
        }
    }

    /**
     * Without the setting, all regions are this writer's.
     *
     * @throws UsageError
     */
    public static function of(Settings $settings): RegionShare
    {
        $table = self::table($settings);
        $text = $settings->sourceText(self::OWN);

        return $text === null
            ? RegionShare::whole($table)
            : self::part($table, $text, $settings->sourceText(self::FILE) ?? 'db/regions.json');
    }

    /** @throws UsageError */
    private static function part(RegionTable $table, string $text, string $file): RegionShare
    {
        $known = $table->codes();
        $named = array_map(trim(...), explode(',', $text));
        $expected =
            "codes of $file, each once, with a comma between, for example " .
            implode(',', array_slice($known, 0, 2)) .
            '. The codes are ' .
            implode(', ', $known);
        if (array_diff($named, $known) !== [] || count(array_unique($named)) !== count($named)) {
            throw UsageError::setting(self::OWN, $text, self::fault($named, $known) . $expected);
        }

        return RegionShare::part($table, $named);
    }

    /**
     * @param list<string> $named
     * @param list<string> $known
     */
    private static function fault(array $named, array $known): string
    {
        $unknown = array_values(array_diff($named, $known));

        return match (true) {
            in_array('', $named, true) => 'no empty entry, but ',
            $unknown !== [] => "not $unknown[0], but ",
            default => 'not ' .
                (string) array_search(max(array_count_values($named)), array_count_values($named), true) .
                ' twice, but ',
        };
    }
}
