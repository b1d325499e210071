<?php

declare(strict_types=1);

namespace TrendVault\Writer\Demo;

/** The title and channel of a video: a template of its category, filled with words of its language. */
final class DemoText
{
    /** In each language. */
    private const int CHANNELS_PER_CATEGORY = 60;

    /** @var array<string, array<string, mixed>> vocabularies by language */
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

    /** @return array<string, mixed> */
    private static function vocabulary(string $language): array
    {
        return json_decode(
            (string) file_get_contents(self::file($language)),
            true,
            flags: JSON_THROW_ON_ERROR,
        );
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
            preg_replace_callback(
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
