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
     * @param array<string, float|int> $weights by region, one at least
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
            $weights[$region['code']] = max(1.0, self::LARGEST_WEIGHT / ($place + 1));
            $language = DemoText::languageOf($region['languages']);
            $languages[$region['code']] = [$language];
            $neighbours[$language][] = $region['code'];
        }

        return new self(
            $weights,
            $languages,
            array_map(
                /** @param list<string> $codes */
                static fn(array $codes): array => array_slice($codes, 0, self::MOST_NEIGHBOURS),
                $neighbours,
            ),
        );
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

        return (string) array_key_first($this->weights);
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

/**
 * The title and channel of a video: a template of its category, filled with words of its language.
 *
 * @phpstan-type Vocabulary array{
 *   words: array<string, non-empty-list<string>>,
 *   titles: non-empty-array<string, non-empty-list<string>>,
 *   channels: array<string, non-empty-list<string>>,
 * } of a file in languages/: words by the name in braces; templates of titles and channels by category, or for any
 */
final class DemoText
{
    /** In each language. */
    private const int CHANNELS_PER_CATEGORY = 60;

    /** @var array<string, Vocabulary> by language */
    private static array $vocabularies = [];

    private function __construct(
        public readonly string $title,
        public readonly string $channel,
        public readonly string $category,
    ) {}

    /** @param string $key the seed of the text */
    public static function of(string $key, string $language): self
    {
        $words = self::$vocabularies[$language] ??= self::vocabulary($language);
        [$category, $template, $channel] = Rng::numbers("$key text");
        $category = self::pick(array_keys($words['titles']), $category);
        $channelKey = "$language $category " . (int) ($channel * self::CHANNELS_PER_CATEGORY);

        return new self(
            title: self::fill(self::pick($words['titles'][$category], $template), $words['words'], $key),
            channel: self::fill(
                self::pick(
                    [...$words['channels']['any'], ...$words['channels'][$category] ?? []],
                    Rng::numbers($channelKey)[0],
                ),
                $words['words'],
                $channelKey,
            ),
            category: $category,
        );
    }

    /**
     * The first language of which there are words, else English.
     *
     * @param list<string> $tags BCP 47
     */
    public static function languageOf(array $tags): string
    {
        foreach ($tags as $tag) {
            [$language] = explode('-', strtolower($tag));
            if (is_file(self::file($language))) {
                return $language;
            }
        }

        return 'en';
    }

    private static function file(string $language): string
    {
        return __DIR__ . "/languages/$language.json";
    }

    /** @return Vocabulary */
    private static function vocabulary(string $language): array
    {
        /** @var Vocabulary $vocabulary */
        $vocabulary = json_decode(
            (string) file_get_contents(self::file($language)),
            true,
            flags: JSON_THROW_ON_ERROR,
        );

        return $vocabulary;
    }

    /**
     * Never uses a word twice, as in "Kuba & Kuba".
     *
     * @param array<string, list<string>> $words by the name in braces
     */
    private static function fill(string $template, array $words, string $key): string
    {
        $used = [];

        return mb_ucfirst(
            (string) preg_replace_callback(
                '/\{(\w+)\}/',
                static function (array $match) use ($words, $key, &$used): string {
                    $number = Rng::numbers("$key " . count($used))[0];

                    return $used[] =
                        $match[1] === 'number'
                            ? (string) (2 + (int) ($number * 48))
                            : self::pick(array_values(array_diff($words[$match[1]], $used)), $number);
                },
                $template,
            ),
        );
    }

    /**
     * @template T
     * @param list<T> $list
     * @return T
     */
    private static function pick(array $list, float $number): mixed
    {
        return $list[(int) ($number * count($list))];
    }
}

/** Pseudo-random numbers that follow from a seed text alone, so that no state is needed. */
final readonly class Rng
{
    private const int RANGE = 4_294_967_296;

    /** @return list<float> four numbers from 0 to below 1 */
    public static function numbers(string $seed): array
    {
        /** @var array<int> $numbers four of 32 bits */
        $numbers = unpack('N4', hash('murmur3f', $seed, true));

        return array_map(
            static fn(int $number): float => (float) ($number / self::RANGE),
            array_values($numbers),
        );
    }

    /** A size as online audiences have them: most are small, few are huge (Pareto). */
    public static function pareto(float $number, float $least, float $exponent): float
    {
        return $least * (1 - $number) ** (-1 / $exponent);
    }
}
