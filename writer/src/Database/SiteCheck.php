<?php

declare(strict_types=1);

namespace TrendVault\Writer\Database;

use stdClass;

/** The addresses and colours of a site in the file of REGIONS_FILE, checked as contract/regions.ts does. Loaded for a file that has one. */
final readonly class SiteCheck
{
    private const string URL = '/^https:\/\/([\w-]+\.)*[A-Za-z][\w-]*(:[1-5]?\d{1,4})?([\/?#][!-+\--:<-~]*)?$/D';
    private const array URLS = ['logo', 'public_url', 'imprint_url', 'privacy_url', 'report_url'];
    /** A name that people can read, as lines may have it. */
    private const string CATEGORY = '/^(?!#language:)(?=.*[\p{L}\p{N}\p{S}])[^\x00-\x1f\x7f-\x{9f}\x{2028}-\x{202e}\x{2066}-\x{2069}]{1,60}$/Du';
    private const int MOST_CATEGORIES = 100;
    private const int MOST_SPELLINGS = 50;
    private const array COLOURS = ['background', 'surface', 'text', 'muted', 'accent'];

    /** As contract/regions.ts has them; the last two are of changes of rank, and no site sets them. */
    private const array DEFAULTS = [
        'light' => ['#ffffff', '#f3f4f7', '#16181d', '#5b6270', '#4338ca', '#0a6b38', '#a8321f'],
        'dark' => ['#14161a', '#1f232a', '#eceef2', '#a3abb8', '#a5b4fc', '#62d394', '#ff9d8a'],
    ];
    private const float LEAST_CONTRAST = 4.5; // WCAG 2.2, 1.4.3

    /** @return list<string> */
    public static function faults(mixed $site): array
    {
        if (!($site instanceof stdClass)) {
            return ['site: expected an object with "name"'];
        }
        $faults = self::unknownKeys($site, ['name', 'colours', ...self::URLS, 'categories'], 'site');
        foreach (self::URLS as $key) {
            if (property_exists($site, $key) && !self::isWebAddress($site->$key)) {
                $faults[] = "site.$key: expected an https URL without user, of at most 500 characters";
            }
        }
        $public = $site->public_url ?? null;
        if (self::isWebAddress($public) && !self::matches('/^https:\/\/[^\/?#]+\/?$/D', $public)) {
            $faults[] = 'site.public_url: expected no more than a host, like https://trending.example.com';
        }
        $report = $site->report_url ?? null;
        if (self::isWebAddress($report) && !self::matches('/\{id\}/', $report)) {
            $faults[] = "site.report_url: expected {id} in the place of a video's id";
        }
        $colours = property_exists($site, 'colours') ? $site->colours : new stdClass();

        $categories = property_exists($site, 'categories') ? $site->categories : new stdClass();

        return [...$faults, ...self::colourFaults($colours), ...self::categoryFaults($categories)];
    }

    /** @return list<string> */
    private static function categoryFaults(mixed $categories): array
    {
        $all = $categories instanceof stdClass ? (array) $categories : [];
        $names = array_map(strval(...), array_keys($all));
        if (
            !($categories instanceof stdClass) ||
            count($names) > self::MOST_CATEGORIES ||
            !self::areCategories($names)
        ) {
            return [
                'site.categories: expected up to ' .
                self::MOST_CATEGORIES .
                ' categories by their names of 1 to 60 characters',
            ];
        }
        $bad = array_filter($all, static fn(mixed $one): bool => !self::isCategory($one));
        if ($bad !== []) {
            return array_map(
                static fn(
                    int|string $name,
                ): string => "site.categories.$name: expected \"also\", a list of up to 50 names, and \"names\" by language",
                array_keys($bad),
            );
        }
        /** @var array<stdClass> $all */
        /** @var list<list<string>> $also */
        $also = array_map(static fn(stdClass $one): mixed => $one->also ?? [], array_values($all));
        $counts = array_count_values([...$names, ...array_merge(...$also)]);

        return array_map(
            static fn(int|string $name): string => "site.categories: $name is a name of more than one",
            array_keys(array_filter($counts, static fn(int $count): bool => $count > 1)),
        );
    }

    private static function isCategory(mixed $value): bool
    {
        if (
            !($value instanceof stdClass) ||
            array_diff(array_keys((array) $value), ['also', 'names']) !== []
        ) {
            return false;
        }
        $also = property_exists($value, 'also') ? $value->also : [];
        $names = property_exists($value, 'names') ? $value->names : new stdClass();

        return is_array($also) &&
            count($also) <= self::MOST_SPELLINGS &&
            self::areCategories($also) &&
            count(array_unique($also)) === count($also) &&
            $names instanceof stdClass &&
            self::areCategories((array) $names) &&
            array_all(
                array_keys((array) $names),
                static fn(int|string $tag): bool => self::matches('/^[a-z]{2,3}$/D', (string) $tag),
            );
    }

    /** @param array<mixed> $names */
    private static function areCategories(array $names): bool
    {
        return array_all($names, static fn(mixed $name): bool => self::matches(self::CATEGORY, $name));
    }

    private static function isWebAddress(mixed $value): bool
    {
        return self::matches(self::URL, $value) && strlen($value) <= 500;
    }

    /** @assert-if-true string $value */
    private static function matches(string $pattern, mixed $value): bool
    {
        return is_string($value) && preg_match($pattern, $value) === 1;
    }

    /**
     * @param list<string> $known
     * @return list<string>
     */
    private static function unknownKeys(stdClass $value, array $known, string $at): array
    {
        $unknown = array_diff(array_map(strval(...), array_keys((array) $value)), $known);
        $expected = implode(', ', $known);

        return array_map(
            static fn(string $key): string => "$at.$key: unknown, expected only $expected",
            array_values($unknown),
        );
    }

    /** @return list<string> */
    private static function colourFaults(mixed $colours): array
    {
        if (!($colours instanceof stdClass)) {
            return ['site.colours: expected an object with "light" and "dark"'];
        }
        $faults = self::unknownKeys($colours, array_keys(self::DEFAULTS), 'site.colours');
        $contrasts = [];
        foreach (self::DEFAULTS as $scheme => $defaults) {
            $given = property_exists($colours, $scheme) ? $colours->$scheme : new stdClass();
            if (!($given instanceof stdClass)) {
                $faults[] = "site.colours.$scheme: expected an object of colours";
                continue;
            }
            $faults = [...$faults, ...self::unknownKeys($given, self::COLOURS, "site.colours.$scheme")];
            foreach (self::COLOURS as $place => $name) {
                $colour = $given->$name ?? null;
                if (self::matches('/^#[0-9a-f]{6}$/Di', $colour)) {
                    $defaults[$place] = $colour;
                } elseif (property_exists($given, $name)) {
                    $faults[] = "site.colours.$scheme.$name: expected a colour like #4338ca";
                }
            }
            $contrasts[$scheme] = $defaults;
        }
        foreach ($faults === [] ? $contrasts : [] as $scheme => $shown) {
            $faults = [...$faults, ...self::contrastFaults($scheme, $shown)];
        }

        return $faults;
    }

    /**
     * Texts of each colour have to be read on what is behind them.
     *
     * @param list<string> $shown
     * @return list<string>
     */
    private static function contrastFaults(string $scheme, array $shown): array
    {
        [$background, $surface, $text, $muted] = $shown;
        $faults = [];
        foreach (array_slice($shown, 2) as $front) {
            $faults = [...$faults, ...self::contrastFault($scheme, $front, $background)];
        }
        foreach ([$text, $muted] as $front) {
            $faults = [...$faults, ...self::contrastFault($scheme, $front, $surface)];
        }

        return $faults;
    }

    /** @return list<string> */
    private static function contrastFault(string $scheme, string $front, string $back): array
    {
        [$one, $other] = [self::luminance($front), self::luminance($back)];
        $ratio = (max($one, $other) + 0.05) / (min($one, $other) + 0.05);
        $shown = floor($ratio * 100) / 100;

        return $ratio >= self::LEAST_CONTRAST
            ? []
            : [
                "site.colours.$scheme: $front on $back has a contrast of $shown, expected " .
                self::LEAST_CONTRAST .
                ' or more (WCAG AA)',
            ];
    }

    private static function luminance(string $colour): float
    {
        $linear = static function (int $at) use ($colour): float {
            $value = hexdec(substr($colour, $at, 2)) / 255;

            return $value <= 0.04045 ? $value / 12.92 : (($value + 0.055) / 1.055) ** 2.4;
        };

        return 0.2126 * $linear(1) + 0.7152 * $linear(3) + 0.0722 * $linear(5);
    }
}
