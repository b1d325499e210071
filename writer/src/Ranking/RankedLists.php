<?php

declare(strict_types=1);

namespace TrendVault\Writer\Ranking;

use Generator;

/** All lists of a generation while it is built: by region, window and category, '' for all categories together. */
final class RankedLists
{
    private const string ALL_CATEGORIES = '';
    private const int MAX_RANKS = 500;
    private const int MAX_RANKS_OF_CATEGORY = 100;

    /** @var array<string, array<string, array<string, TopList>>> by region, window, category */
    private array $lists = [];

    /** @param int $now UTC seconds */
    public function __construct(private readonly int $now) {}

    public function offer(
        string $region,
        string $videoId,
        string $channel,
        ?string $category,
        ?int $publishedAt,
        Velocity $velocity,
    ): void {
        foreach (Window::cases() as $window) {
            $score = Forecast::expectedViews($velocity, $publishedAt, $window, $this->now);
            $candidate = null;
            foreach ($this->listsFor($region, $window, $category) as $list) {
                if ($list->admits($score)) {
                    $list->add($candidate ??= new Candidate($videoId, $channel, $score, $velocity));
                }
            }
        }
    }

    /** @return Generator<array{string, Window, string, list<Candidate>}> region, window, category, candidates by rank */
    public function ranked(): Generator
    {
        ksort($this->lists);
        foreach ($this->lists as $region => $windows) {
            foreach ($windows as $window => $categories) {
                ksort($categories, SORT_STRING);
                foreach ($categories as $category => $list) {
                    yield [$region, Window::from($window), (string) $category, $list->ranked()];
                }
            }
        }
    }

    /** @return list<TopList> */
    private function listsFor(string $region, Window $window, ?string $category): array
    {
        $lists = [
            ($this->lists[$region][$window->value][self::ALL_CATEGORIES] ??= new TopList(self::MAX_RANKS)),
        ];
        if ($category !== null) {
            $lists[] = $this->lists[$region][$window->value][$category] ??= new TopList(
                self::MAX_RANKS_OF_CATEGORY,
            );
        }

        return $lists;
    }
}
