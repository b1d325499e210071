<?php

declare(strict_types=1);

namespace TrendVault\Writer\Demo;

use TrendVault\Writer\Database\RegionTable;

/** The regions of the demo: their share of videos, their languages, and which share a language. */
final readonly class DemoRegions
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

    private const float LARGEST_WEIGHT = 16.0;
    /** Of a language: else a video of one with many regions would be counted in all of them. */
    private const int MOST_NEIGHBOURS = 4;

    private float $total;

    /**
     * @param non-empty-array<string, float|int> $weights by region
     * @param array<string, non-empty-list<string>> $languages by region
     * @param array<string, list<string>> $neighbours by language
     */
    public function __construct(
        private array $weights = self::WEIGHTS,
        private array $languages = self::LANGUAGES,
        private array $neighbours = self::NEIGHBOURS,
    ) {
        $this->total = array_sum($weights);
    }

    /** What is known of the regions that come with the program; of others, earlier ones are larger. */
    public static function of(RegionTable $table): self
    {
        $codes = $table->codes();
        if (array_diff($codes, array_keys(self::WEIGHTS)) === [] && count($codes) === count(self::WEIGHTS)) {
            return new self();
        }
        $weights = $languages = $neighbours = [];
        foreach ($table->regions as $place => $region) {
            $weights[$region->code] = max(1.0, self::LARGEST_WEIGHT / ($place + 1));
            $language = DemoText::languageOf($region->languages);
            $languages[$region->code] = [$language];
            $neighbours[$language][] = $region->code;
        }
        $first = static fn(array $codes): array => array_slice($codes, 0, self::MOST_NEIGHBOURS);

        return new self($weights, $languages, array_map($first, $neighbours));
    }

    /** @param float $number from 0 to below 1 */
    public function pick(float $number): string
    {
        $left = $number * $this->total;
        foreach ($this->weights as $region => $weight) {
            $left -= $weight;
            if ($left < 0) {
                return $region;
            }
        }

        return array_key_first($this->weights);
    }

    /** @param float $number from 0 to below 1 */
    public function language(string $region, float $number): string
    {
        return $this->languages[$region][(int) ($number * count($this->languages[$region]))];
    }

    /** @return list<string> other regions of the language */
    public function neighbours(string $region, string $language): array
    {
        return array_values(array_diff($this->neighbours[$language] ?? [], [$region]));
    }

    /** @return list<string> */
    public function all(): array
    {
        return array_keys($this->weights);
    }

    /** Viewers, relative to a region of medium size. */
    public function audience(string $region): float
    {
        return $this->weights[$region] / 7;
    }
}
