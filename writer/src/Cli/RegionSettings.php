<?php

declare(strict_types=1);

namespace TrendVault\Writer\Cli;

use TrendVault\Writer\Database\RegionShare;

/** What the environment says about the regions of this writer. */
final readonly class RegionSettings
{
    private const string NAME = 'REGIONS';

    /**
     * Null without the setting: all regions are this writer's.
     *
     * @throws UsageError
     */
    public static function of(Settings $settings): ?RegionShare
    {
        $text = $settings->sourceText(self::NAME);

        return $text === null ? null : self::read($text, $settings->regionsFile());
    }

    /** @throws UsageError */
    private static function read(string $text, string $file): RegionShare
    {
        $rows = json_decode((string) file_get_contents($file), true, flags: JSON_THROW_ON_ERROR);
        $known = array_column($rows, 'code');
        $named = array_map(trim(...), explode(',', $text));
        $expected =
            'codes of db/regions.json, each once, with a comma between, for example GB,IE. The codes are ' .
            implode(', ', $known);
        if (array_diff($named, $known) !== [] || count(array_unique($named)) !== count($named)) {
            throw UsageError::setting(self::NAME, $text, self::fault($named, $known) . $expected);
        }
        $codes = array_intersect($known, $named);

        return new RegionShare(array_values($codes), array_key_first($codes));
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
                array_search(max(array_count_values($named)), array_count_values($named), true) .
                ' twice, but ',
        };
    }
}
