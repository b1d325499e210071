<?php

declare(strict_types=1);

namespace TrendVault\Writer\Ranking;

use Generator;

/** The lists of a generation by region, window and name: '' for all videos, a category, or ListLanguage::listName. */
final class TopLists
{
    private const string ALL_VIDEOS = '';
    private const int MAX_RANKS = 500;
    /** Of the list of a language, too. */
    private const int MAX_RANKS_OF_CATEGORY = 100;

    /** @var array<string, array<string, array<string, TopList>>> by region, window, name */
    private array $lists = [];
    /** @var array<string, array<string, array<string, ListTargets>>> by region, category and language */
    private array $targets = [];
    /** @var array<string, string> by tag; '' for one that has no list */
    private array $languages = [];

    /** @param list<Window> $windows */
    public function __construct(private readonly array $windows) {}

    /**
     * The lists that a video may get into, which is counted.
     *
     * @param ?string $tag of its language (BCP 47)
     */
    public function targetsFor(string $region, ?string $category, ?string $tag): ListTargets
    {
        $language = $tag === null ? '' : ($this->languages[$tag] ??= ListLanguage::of($tag) ?? '');
        $targets =
            $this->targets[$region][$category ?? ''][$language] ??
            $this->addTargets($region, $category, $language);
        $targets->videos++;

        return $targets;
    }

    /** How many videos of a region were counted. */
    public function videoCount(string $region): int
    {
        return array_sum($this->videosByLanguage($region));
    }

    public function totalVideoCount(): int
    {
        return array_sum(array_map($this->videoCount(...), array_keys($this->targets)));
    }

    /** @return Generator<array{string, Window, string, TopList}> in the order of region, window and name */
    public function published(): Generator
    {
        ksort($this->lists);
        foreach ($this->lists as $region => $windows) {
            $unpublished = $this->unpublishedNames($region);
            foreach ($windows as $window => $lists) {
                ksort($lists, SORT_STRING);
                foreach (array_diff_key($lists, $unpublished) as $name => $list) {
                    yield [$region, Window::from($window), (string) $name, $list];
                }
            }
        }
    }

    private function addTargets(string $region, ?string $category, string $language): ListTargets
    {
        $names = array_filter(
            [$category, $language === '' ? null : ListLanguage::listName($language)],
            is_string(...),
        );
        $byWindow = [];
        foreach ($this->windows as $window) {
            $lists = &$this->lists[$region][$window->value];
            $targets = [($lists[self::ALL_VIDEOS] ??= new TopList(self::MAX_RANKS))];
            foreach ($names as $name) {
                $targets[] = $lists[$name] ??= new TopList(self::MAX_RANKS_OF_CATEGORY);
            }
            $byWindow[] = [$window, $targets];
        }

        return $this->targets[$region][$category ?? ''][$language] = new ListTargets($byWindow);
    }

    /** @return array<string, int> as keys */
    private function unpublishedNames(string $region): array
    {
        $videos = $this->videosByLanguage($region);
        unset($videos['']);
        $unpublished = array_diff(array_keys($videos), ListLanguage::chosen($videos));

        return array_flip(array_map(ListLanguage::listName(...), $unpublished));
    }

    /** @return array<string, int> how many were counted, '' for those without a list of their language */
    private function videosByLanguage(string $region): array
    {
        $videos = [];
        foreach ($this->targets[$region] ?? [] as $languages) {
            foreach ($languages as $language => $targets) {
                $videos[$language] = ($videos[$language] ?? 0) + $targets->videos;
            }
        }

        return $videos;
    }
}
