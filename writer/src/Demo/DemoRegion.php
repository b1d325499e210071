<?php

declare(strict_types=1);

namespace TrendVault\Writer\Demo;

/** The regions of the demo: their share of videos, their languages, and which share a language. */
final readonly class DemoRegion
{
    /** How many of a hundred videos come from each region. */
    private const array WEIGHTS = [
        'GB' => 16,
        'DE' => 15,
        'FR' => 13,
        'ES' => 11,
        'IT' => 11,
        'PL' => 8,
        'NL' => 6,
        'SE' => 4,
        'PT' => 4,
        'BE' => 3,
        'AT' => 3,
        'CZ' => 3,
        'DK' => 2,
        'IE' => 1,
    ];
    private const array LANGUAGES = [
        'GB' => ['en'],
        'DE' => ['de'],
        'FR' => ['fr'],
        'ES' => ['es'],
        'IT' => ['it'],
        'PL' => ['pl'],
        'NL' => ['nl'],
        'SE' => ['sv'],
        'PT' => ['pt'],
        'BE' => ['nl', 'fr', 'nl', 'fr', 'nl'],
        'AT' => ['de'],
        'CZ' => ['cs'],
        'DK' => ['da'],
        'IE' => ['en'],
    ];
    private const array NEIGHBOURS = [
        'en' => ['GB', 'IE'],
        'de' => ['DE', 'AT'],
        'fr' => ['FR', 'BE'],
        'nl' => ['NL', 'BE'],
    ];

    /** @param float $number from 0 to below 1 */
    public static function pick(float $number): string
    {
        $left = $number * array_sum(self::WEIGHTS);
        foreach (self::WEIGHTS as $region => $weight) {
            $left -= $weight;
            if ($left < 0) {
                return $region;
            }
        }

        return 'GB';
    }

    /** @param float $number from 0 to below 1 */
    public static function language(string $region, float $number): string
    {
        return self::LANGUAGES[$region][(int) ($number * count(self::LANGUAGES[$region]))];
    }

    /** @return list<string> other regions of the language */
    public static function neighbours(string $region, string $language): array
    {
        return array_values(array_diff(self::NEIGHBOURS[$language] ?? [], [$region]));
    }

    /** @return list<string> */
    public static function all(): array
    {
        return array_keys(self::WEIGHTS);
    }

    /** Viewers, relative to a region of medium size. */
    public static function audience(string $region): float
    {
        return self::WEIGHTS[$region] / 7;
    }
}
