<?php

declare(strict_types=1);

namespace TrendVault\Writer\Backtest;

use TrendVault\Writer\Database\Database;
use TrendVault\Writer\Ingest\ObservationStore;
use TrendVault\Writer\Observations\Observation;
use TrendVault\Writer\Observations\RejectedLine;
use TrendVault\Writer\Ranking\RankingPublisher;
use TrendVault\Writer\Ranking\Window;

/** Replays recorded days: stores each day's observations, ranks, and returns the scores of that day. */
final class Replay
{
    /** The name of our own formula, beside those of Baseline. */
    public const string OURS = 'ours';

    private const string RANKED = <<<'SQL'
    SELECT video_id, score FROM trending
    WHERE generation = ? AND region = ? AND window = ? AND category = ''
    SQL;

    private readonly ObservationStore $store;
    private readonly RankingPublisher $ranking;
    /** @var array<string, array<string, VideoHistory>> by region and video */
    private array $histories = [];

    public function __construct(private readonly Database $database, int $maxUnobservedHours)
    {
        $this->store = new ObservationStore($database, now: 0);
        $this->ranking = new RankingPublisher($database, $maxUnobservedHours);
    }

    /**
     * @param non-empty-list<Observation> $observations of one day, in order of time
     * @return array<string, DayRanking> by region
     */
    public function day(array $observations): array
    {
        $this->database->transaction(function () use ($observations): void {
            $this->store->prepareFor($observations);
            array_walk($observations, $this->store(...));
        });
        $today = [];
        foreach ($observations as $observation) {
            $this->remember($observation, isset($today[$observation->region]["#$observation->videoId"]));
            $today[$observation->region]["#$observation->videoId"] =
                $this->histories[$observation->region]["#$observation->videoId"];
        }
        $generation = $this->ranking->publishAt(
            max(array_map(static fn(Observation $one): int => $one->observedAt, $observations)),
        );

        return array_combine(
            array_keys($today),
            array_map(
                fn(string $region, array $histories): DayRanking => $this->scores(
                    $generation->id,
                    $region,
                    $histories,
                ),
                array_keys($today),
                $today,
            ),
        );
    }

    private function store(Observation $observation): void
    {
        try {
            $this->store->add($observation);
        } catch (RejectedLine) {
            // A video without metadata: ingest would reject the line, so the ranking does not include it.
        }
    }

    private function remember(Observation $observation, bool $sameDay): void
    {
        $history = $this->histories[$observation->region]["#$observation->videoId"] ?? null;
        $history === null
            ? ($this->histories[$observation->region]["#$observation->videoId"] = new VideoHistory(
                $observation,
            ))
            : $history->add($observation, $sameDay);
    }

    /** @param array<string, VideoHistory> $histories of the videos seen on this day */
    private function scores(int $generation, string $region, array $histories): DayRanking
    {
        $ranked = $this->database->rows(self::RANKED, [$generation, $region, Window::Day->value]);
        $scores = [self::OURS => []];
        foreach ($ranked as ['video_id' => $videoId, 'score' => $score]) {
            $scores[self::OURS]["#$videoId"] = $score;
        }
        foreach (Baseline::cases() as $formula) {
            $scores[$formula->value] = array_map($formula->score(...), $histories);
        }

        return new DayRanking(
            $scores,
            array_map(static fn(VideoHistory $history): int => $history->last()->views, $histories),
        );
    }
}
