<?php

declare(strict_types=1);

namespace TrendVault\Writer\Ranking;

use TrendVault\Writer\Database\Database;

/**
 * Stores with a generation what its ranks came from, as far as the lists do not say it: for the videos of the lists over
 * all categories. `writer explain` and the origin read it, so that nothing else has to know the formula. The caller holds
 * the transaction.
 */
final class ExplanationStore
{
    private const string ADD = 'INSERT INTO explanations (generation, region, parts, limited) VALUES (?, ?, ?, ?)';
    private const string FORGET = 'DELETE FROM explanations WHERE generation < (SELECT max(id) FROM generations WHERE id < ?)';

    /** @var array<string, array<list<int|float|bool|null>>> by region and video, see ExplainedVideo */
    private array $parts = [];
    /** @var array<string, array<string, array<int, ?int>>> by region, window and rank */
    private array $limited = [];

    public function __construct(
        private readonly Database $database,
        private readonly int $generation,
        private readonly RankedLists $lists,
    ) {}

    public function add(RankedList $list): void
    {
        if ($list->category !== '') {
            return;
        }
        $region = $list->region;
        foreach ($list->candidates as $candidate) {
            $this->parts[$region][$candidate->videoId] ??= ExplainedVideo::of(
                $candidate,
                $this->lists->lookParts($region, $candidate->videoId),
            )->values();
        }
        $this->limited[$region][$list->window->value] = $list->limitedRanks();
    }

    /** Writes what was added, and deletes what is of older generations than the one before. */
    public function save(): void
    {
        $this->database->run(self::FORGET, [$this->generation]);
        foreach ($this->parts as $region => $parts) {
            $limited = array_map(static fn(array $ranks): object => (object) $ranks, $this->limited[$region]);
            $this->database->run(self::ADD, [
                $this->generation,
                $region,
                json_encode((object) $parts, JSON_THROW_ON_ERROR),
                json_encode((object) $limited, JSON_THROW_ON_ERROR),
            ]);
        }
    }
}
