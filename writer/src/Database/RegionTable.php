<?php

declare(strict_types=1);

namespace TrendVault\Writer\Database;

use stdClass;
use TrendVault\Writer\WriterException;

/**
 * The regions of a deployment: db/regions.json, or the file of REGIONS_FILE; contract/regions.ts reads the same, and what a
 * site says of itself (`site`), which is checked here, and which origin and renderer show. Those of this writer, and which numbers its generations have.
 */
final readonly class RegionTable
{
    private const int MOST_REGIONS = 250;
    private const int MOST_FAULTS = 20;
    private const int MOST_LANGUAGES = 10;
    /** As many as a list has. */
    private const int MOST_RANKS = 500;
    private const string CODE = '/^[A-Z]{2}$/D';
    private const string LANGUAGE = '/^(?=.{2,35}$)[A-Za-z]{2,3}(-[A-Za-z0-9]{1,8})*$/D';

    /** A letter, a digit or a sign, and nothing that turns text around. */
    private const string NAME = '/^(?=.*[\p{L}\p{N}\p{S}])[^\x00-\x1f\x7f-\x{9f}\x{2028}-\x{202e}\x{2066}-\x{2069}]{1,100}$/Du';

    private const string SEED = <<<'SQL'
    INSERT INTO regions (code, name, languages) VALUES (?, ?, ?)
    ON CONFLICT (code) DO UPDATE SET name = excluded.name, languages = excluded.languages
      WHERE name IS NOT excluded.name OR languages IS NOT excluded.languages
    SQL;

    /** More than there are regions, so that the numbers of two writers are never the same. */
    public const int NUMBER_STEP = 256;

    /** @var non-empty-list<string> the codes of this writer, in the order of the file */
    public array $own;
    /** Of the first of them in the file, from 0; null for the only writer. */
    private ?int $index;

    /**
     * @param non-empty-list<array{code: string, name: string, languages: list<string>, countries?: list<string>}> $regions in the order of the file
     * @param ?array{videos: int|float, within_ranks: int|float} $channelLimit of all lists; whole numbers
     * @param array<string> $categories what sources call a category otherwise: its name, by that
     * @param ?non-empty-list<string> $own null for all
     */
    private function __construct(
        public array $regions,
        public ?array $channelLimit,
        public array $categories = [],
        ?array $own = null,
    ) {
        $part = array_intersect($this->codes(), $own ?? []);
        $this->own = array_values($part) ?: $this->codes();
        $this->index = array_key_first($part);
    }

    /**
     * @param string $text JSON
     * @throws WriterException with a line for each mistake: where it is, and what was expected
     */
    public static function read(string $text): self
    {
        $text = (string) preg_replace('/^\xEF\xBB\xBF/', '', $text); // what editors on Windows put in front
        $faults = json_validate($text) ? self::shapeFaults(json_decode($text)) : ['expected JSON'];
        if ($faults !== []) {
            throw self::bad($faults);
        }
        /** @var array{default?: string, channel_limit?: array{videos: int|float, within_ranks: int|float}, regions?: non-empty-list<array{code: string, name: string, languages: list<string>, countries?: list<string>}>, site?: array{categories?: array<array{also?: list<string>}>, ...}} $table */
        $table = json_decode($text, true);
        if (!isset($table['default'], $table['regions'])) {
            $builtIn = self::read((string) file_get_contents(dirname(__DIR__, 3) . '/db/regions.json'));

            return new self($builtIn->regions, $table['channel_limit'] ?? null, self::spellings($table));
        }
        $faults = self::relationFaults($table['default'], $table['regions']);

        return $faults === []
            ? new self($table['regions'], $table['channel_limit'] ?? null, self::spellings($table))
            : throw self::bad($faults);
    }

    /**
     * @param array{site?: array{categories?: array<array{also?: list<string>}>, ...}, ...} $table
     * @return array<string>
     */
    private static function spellings(array $table): array
    {
        $names = [];
        foreach ($table['site']['categories'] ?? [] as $name => $category) {
            $names += array_fill_keys(array_map(trim(...), $category['also'] ?? []), (string) $name);
        }

        return $names;
    }

    /** @return non-empty-list<string> */
    public function codes(): array
    {
        return array_map(static fn(array $region): string => $region['code'], $this->regions);
    }

    /**
     * The same table for one of several writers.
     *
     * @param non-empty-list<string> $own each of codes()
     */
    public function ofWriter(array $own): self
    {
        return new self($this->regions, $this->channelLimit, $this->categories, $own);
    }

    /** Whether all regions are this writer's. */
    public function isWhole(): bool
    {
        return $this->index === null;
    }

    /**
     * Which regions there are, and whether they are this writer's.
     *
     * @return array<string, bool> by code
     */
    public function ownership(): array
    {
        $all = $this->codes();
        sort($all);

        return array_combine($all, array_map($this->has(...), $all));
    }

    public function has(string $region): bool
    {
        return in_array($region, $this->own, true);
    }

    /** The number of the last generation; 0 without any. */
    public static function lastNumber(Database $database): int
    {
        return $database->number("SELECT seq FROM sqlite_sequence WHERE name = 'generations'") ?? 0;
    }

    /** Makes the next generation's number larger than $last, which readers may know: a cursor must not lead into another list. */
    public static function raiseNumbers(Database $database, int $last): void
    {
        if (self::lastNumber($database) < $last) {
            $database->run("DELETE FROM sqlite_sequence WHERE name = 'generations'");
            $database->run("INSERT INTO sqlite_sequence (name, seq) VALUES ('generations', ?)", [$last]);
        }
    }

    /** The smallest number after $last that leaves the index as its remainder: another writer has another index. Null for the next one. */
    public function numberAfter(int $last): ?int
    {
        if ($this->index === null) {
            return null;
        }
        $distance = ($this->index - $last) % self::NUMBER_STEP;

        return $last + ($distance > 0 ? $distance : $distance + self::NUMBER_STEP);
    }

    /** @return array<string, list<string>> BCP 47 languages by code */
    public function languages(): array
    {
        return array_column($this->regions, 'languages', 'code');
    }

    /**
     * Adds and renames; a region that is no longer listed stays, because its history refers to it. Nothing of it is
     * stored or ranked any more.
     *
     * @return int rows changed
     */
    public function seed(Database $database): int
    {
        return $database->transaction(function () use ($database): int {
            $changed = 0;
            foreach ($this->regions as $region) {
                $changed += $database->run(self::SEED, [
                    $region['code'],
                    $region['name'],
                    json_encode($region['languages'], JSON_THROW_ON_ERROR),
                ]);
            }

            return $changed;
        });
    }

    /** @throws DatabaseFailure when the database does not have all of them */
    public function expectSeeded(Database $database): void
    {
        $known = $database->texts('SELECT code FROM regions');
        $missing = array_diff($this->codes(), $known);
        if ($missing !== []) {
            throw DatabaseFailure::ofSchema(
                'it does not have the regions ' . implode(', ', $missing) . ' yet. Run `writer migrate`.',
            );
        }
    }

    /**
     * The shape of every member. References between members are checked when all shapes are right.
     *
     * @return list<string>
     */
    private static function shapeFaults(mixed $table): array
    {
        if (!($table instanceof stdClass)) {
            return ['expected an object with "default" and "regions"'];
        }
        $regions = $table->regions ?? null;
        $faults = self::unknownKeys(
            $table,
            ['$schema', 'default', 'channel_limit', 'regions', 'site', 'languages'],
            '',
        );
        if (property_exists($table, 'site')) {
            $site = $table->site;
            $faults = [...$faults, ...SiteCheck::faults($site)];
            if ($site instanceof stdClass && !self::matches(self::NAME, $site->name ?? null)) {
                $faults[] = 'site.name: expected a name of 1 to 100 characters';
            }
        }
        $isBuiltIn = !property_exists($table, 'default') && !property_exists($table, 'regions');
        if (!$isBuiltIn && !self::matches(self::CODE, $table->default ?? null)) {
            $faults[] = 'default: expected the code of one of the regions, like GB';
        }
        if (property_exists($table, 'channel_limit') && !self::isChannelLimit($table->channel_limit)) {
            $faults[] =
                'channel_limit: expected "videos", from 1 to ' .
                self::MOST_RANKS .
                ', and "within_ranks", from 0 to ' .
                self::MOST_RANKS;
        }
        if ($isBuiltIn) {
            return $faults;
        }
        if (!is_array($regions) || $regions === [] || count($regions) > self::MOST_REGIONS) {
            $faults[] = 'regions: expected a list of 1 to ' . self::MOST_REGIONS . ' regions';
        } else {
            foreach ($regions as $index => $region) {
                $faults = [...$faults, ...self::regionFaults($region, "regions[$index]")];
            }
        }

        return $faults;
    }

    /** @param non-empty-list<string> $faults a line each */
    private static function bad(array $faults): WriterException
    {
        $more = count($faults) - self::MOST_FAULTS;
        $said = array_slice($faults, 0, self::MOST_FAULTS);

        return WriterException::usage(implode("\n", $more > 0 ? [...$said, "and $more more"] : $said));
    }

    /** @return list<string> */
    private static function regionFaults(mixed $region, string $at): array
    {
        if (!($region instanceof stdClass)) {
            return ["$at: expected an object with \"code\", \"name\" and \"languages\""];
        }
        $languages = $region->languages ?? null;
        $faults = self::unknownKeys($region, ['code', 'name', 'languages', 'countries'], "$at.");
        if (!self::matches(self::CODE, $region->code ?? null)) {
            $faults[] = "$at.code: expected an ISO 3166-1 alpha-2 code, like GB";
        }
        if (!self::matches(self::NAME, $region->name ?? null)) {
            $faults[] = "$at.name: expected an English name of 1 to 100 characters";
        }
        if (
            !is_array($languages) ||
            !self::areEach(self::LANGUAGE, $languages) ||
            $languages === [] ||
            count($languages) > self::MOST_LANGUAGES
        ) {
            $faults[] =
                "$at.languages: expected 1 to " .
                self::MOST_LANGUAGES .
                ' BCP 47 tags, each once, the main one first';
        }
        if (property_exists($region, 'countries') && !self::areEach(self::CODE, $region->countries)) {
            $faults[] = "$at.countries: expected ISO 3166-1 alpha-2 codes, each once";
        }

        return $faults;
    }

    /**
     * @param non-empty-list<array{code: string, countries?: list<string>, ...}> $regions
     * @return list<string>
     */
    private static function relationFaults(string $default, array $regions): array
    {
        $faults = $places = $taken = [];
        foreach ($regions as $index => $region) {
            $taken[] = [$region['code'], "regions[$index].code"];
        }
        foreach ($regions as $index => $region) {
            foreach ($region['countries'] ?? [] as $country) {
                $taken[] = [$country, "regions[$index].countries"];
            }
        }
        foreach ($taken as [$code, $place]) {
            if (isset($places[$code])) {
                $faults[] = "$place: $code is $places[$code] already";
            }
            $places[$code] ??= $place;
        }
        if (!in_array($default, array_column($regions, 'code'), true)) {
            $faults[] = "default: $default is none of the regions";
        }

        return $faults;
    }

    /**
     * @param list<string> $known
     * @return list<string>
     */
    private static function unknownKeys(stdClass $value, array $known, string $at): array
    {
        $unknown = array_diff(array_map(strval(...), array_keys((array) $value)), $known);

        return array_values(
            array_map(
                static fn(string $key): string => "$at$key: unknown, expected only " . implode(', ', $known),
                $unknown,
            ),
        );
    }

    private static function isChannelLimit(mixed $limit): bool
    {
        return $limit instanceof stdClass &&
            array_diff(array_keys((array) $limit), ['videos', 'within_ranks']) === [] &&
            self::isFrom(1, $limit->videos ?? null) &&
            self::isFrom(0, $limit->within_ranks ?? null);
    }

    private static function isFrom(int $least, mixed $value): bool
    {
        return (is_int($value) || (is_float($value) && floor($value) === $value)) &&
            $value >= $least &&
            $value <= self::MOST_RANKS;
    }

    private static function areEach(string $pattern, mixed $values): bool
    {
        return is_array($values) &&
            array_all($values, static fn(mixed $value): bool => self::matches($pattern, $value)) &&
            count(array_unique($values)) === count($values);
    }

    private static function matches(string $pattern, mixed $value): bool
    {
        return is_string($value) && preg_match($pattern, $value) === 1;
    }
}
