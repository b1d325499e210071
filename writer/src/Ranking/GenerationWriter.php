<?php

declare(strict_types=1);

namespace TrendVault\Writer\Ranking;

use TrendVault\Writer\Database\Database;
use TrendVault\Writer\Database\RegionShare;

/** Writes a generation: its lists, where their videos were an hour before, and how they grew. The caller holds the transaction. */
final readonly class GenerationWriter
{
    private const string ADD_GENERATION = <<<'SQL'
    INSERT INTO generations (id, published_at, formula, video_count, max_per_channel, max_per_channel_ranks, previous_at, taper_hours, sources, explore_share, removed_videos, looks_counted)
    VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
    SQL;
    private const string LAST_NUMBER = "SELECT seq FROM sqlite_sequence WHERE name = 'generations'";
    private const string ADD_REGION = 'INSERT INTO generation_regions (generation, region, video_count, newest_observed_at, look_weight) VALUES (?, ?, ?, ?, ?)';
    private const string ADD_RANK = <<<'SQL'
    INSERT INTO trending (generation, region, window, category, rank, video_id, score, views, views_per_hour, previous_views_per_hour, previous_rank)
    VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
    SQL;
    private const string ADD_EXPLORED = 'INSERT INTO explored_ranks (generation, region, window, category, rank) VALUES (?, ?, ?, ?, ?)';

    /**
     * @param list<array{kind: string, host: ?string}> $sources
     * @param ?RegionShare $share decides on the generation's number; null for the next one
     */
    public function __construct(
        private Database $database,
        private float $exploreShare,
        private array $sources,
        private ?RegionShare $share = null,
    ) {}

    /**
     * @param array<string, ?int> $newestByRegion UTC seconds of the newest observation; null without any
     * @param int $now UTC seconds
     */
    public function write(RankedLists $lists, array $newestByRegion, int $now): Generation
    {
        $history = RankHistory::at($this->database, $now);
        $id = $this->describe($lists, $newestByRegion, $now, $history->comparedAt);
        $history->forget();
        $hourlyViews = new HourlyViews($this->database);
        $explanations = new ExplanationStore($this->database, $id, $lists);
        $rows = 0;
        foreach ($lists->ranked() as $list) {
            $this->writeList($id, $list, $history->before($list));
            $history->keep($list);
            $hourlyViews->add($list);
            $explanations->add($list);
            $rows += count($list->candidates);
        }
        $hourlyViews->update($now);
        $explanations->save();

        return new Generation($id, $now, $lists->totalVideoCount(), $rows, $lists->futureCount());
    }

    /**
     * Writes what a generation was made with.
     *
     * @param array<string, ?int> $newestByRegion
     * @return int its id
     */
    private function describe(RankedLists $lists, array $newestByRegion, int $now, ?int $comparedAt): int
    {
        $this->database->run(self::ADD_GENERATION, [
            $this->share?->numberAfter((int) $this->database->value(self::LAST_NUMBER)),
            $now,
            $lists->formula,
            $lists->totalVideoCount(),
            ChannelLimit::MAX_VIDEOS,
            ChannelLimit::WITHIN_RANKS,
            $comparedAt,
            Forecast::TAPER_HOURS,
            json_encode($this->sources, JSON_THROW_ON_ERROR),
            $this->exploreShare,
            $lists->removedCount(),
            (int) $lists->usesLooks,
        ]);
        $id = $this->database->connection->lastInsertRowID();
        foreach ($newestByRegion as $region => $newest) {
            $this->database->run(self::ADD_REGION, [
                $id,
                $region,
                $lists->videoCount($region),
                $newest,
                $lists->lookWeight($region),
            ]);
        }

        return $id;
    }

    /** @param array<int> $before the ranks of before, from 0, by id */
    private function writeList(int $generation, RankedList $list, array $before): void
    {
        $insert = $this->database->prepare(self::ADD_RANK);
        $insert->bindValue(1, $generation);
        $insert->bindValue(2, $list->region);
        $insert->bindValue(3, $list->window->value);
        $insert->bindValue(4, $list->category);
        foreach ($list->candidates as $index => $candidate) {
            $previous = $before[$candidate->videoId] ?? null;
            $insert->bindValue(5, $index + 1);
            $insert->bindValue(6, $candidate->videoId, SQLITE3_TEXT);
            $insert->bindValue(7, $candidate->score);
            $insert->bindValue(8, $candidate->velocity->views);
            $insert->bindValue(9, $candidate->velocity->viewsPerHour);
            $insert->bindValue(10, $candidate->velocity->previousViewsPerHour);
            $insert->bindValue(11, $previous === null ? null : $previous + 1);
            $insert->execute();
            if ($candidate->isExplored) {
                $this->database->run(self::ADD_EXPLORED, [
                    $generation,
                    $list->region,
                    $list->window->value,
                    $list->category,
                    $index + 1,
                ]);
            }
        }
    }
}
