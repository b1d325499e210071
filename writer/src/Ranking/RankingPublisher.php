<?php

declare(strict_types=1);

namespace TrendVault\Writer\Ranking;

use TrendVault\Writer\Database\Database;
use TrendVault\Writer\Database\RegionShare;
use TrendVault\Writer\Database\RemovalKind;
use TrendVault\Writer\Database\Removals;
use TrendVault\Writer\Time\Rfc3339;
use TrendVault\Writer\Time\SystemClock;
use TrendVault\Writer\WriterException;

/** Makes a generation from all velocities and publishes it in one transaction. */
final readonly class RankingPublisher
{
    /** A video leaves when its region was observed for more hours without it. */
    private const int MAX_UNOBSERVED_HOURS = 48;
    private const string NEWEST_BY_REGION = <<<'SQL'
    WITH newest AS (SELECT region, max(last_observed_at) AS at FROM velocity WHERE last_observed_at <= ? GROUP BY region)
    SELECT r.code, n.at AS newest FROM regions AS r LEFT JOIN newest AS n ON n.region = r.code ORDER BY r.code
    SQL;
    private const string VELOCITIES =
        'SELECT y.region, y.video_id, v.channel, v.category, v.language, v.published_at, ' .
        Velocity::COLUMNS .
        ' FROM velocity AS y JOIN videos AS v ON v.id = y.video_id';
    private const string FILLED_REGIONS = <<<'SQL'
    SELECT region FROM generation_regions
    WHERE generation = (SELECT max(id) FROM generations) AND video_count > 0 AND newest_observed_at >= ? ORDER BY region
    SQL;

    /**
     * @param float $exploreShare of the impressions may go to ranks that were not earned, see Trials
     * @param list<array{kind: string, host: ?string}> $sources where counts come from, to be stored with the lists
     * @param ?RegionShare $share nothing is ranked of other regions, also where videos of them are stored; null for all
     */
    public function __construct(
        private Database $database,
        private float $exploreShare = 0.0,
        private array $sources = [],
        private ?RegionShare $share = null,
        private ChannelLimit $channelLimit = new ChannelLimit(),
    ) {}

    /**
     * @param int $now UTC seconds
     * @param ?int $fullSince UTC seconds: a region that has a list, and was observed since then, must not lose it; null
     *   lets every list become empty
     * @throws ClockBackwards when the newest generation is of a later time
     * @throws EmptyPublication
     */
    public function publish(int $now, ?int $fullSince = null): Generation
    {
        $newest = (int) $this->database->value(
            'SELECT published_at FROM generations ORDER BY id DESC LIMIT 1',
        );
        if ($now < $newest - SystemClock::TOLERANCE_SECONDS) {
            throw ClockBackwards::before($now, $newest);
        }

        return $this->publishAt(max($now, $newest), max($now, $newest), $fullSince);
    }

    /**
     * As publish(), but does not compare the time with the newest generation's.
     *
     * @param int $now UTC seconds
     * @param ?int $clock UTC seconds: videos whose newest observation is of the future do not rank; null for all
     * @param ?int $fullSince as for publish()
     * @throws EmptyPublication
     */
    public function publishAt(int $now, ?int $clock = null, ?int $fullSince = null): Generation
    {
        $latest = $clock === null ? PHP_INT_MAX : $clock + SystemClock::TOLERANCE_SECONDS;
        $newestByRegion = $this->own(
            array_column($this->database->rows(self::NEWEST_BY_REGION, [$latest]), 'newest', 'code'),
        );
        $lists = $this->collect($newestByRegion, $now, $latest);
        if ($fullSince !== null) {
            $this->requireFilled($lists, $fullSince);
        }

        return $this->database->transaction(
            fn(): Generation => new GenerationWriter(
                $this->database,
                $this->exploreShare,
                $this->sources,
                $this->share,
            )->write($lists, $newestByRegion, $now),
        );
    }

    /**
     * @template T
     * @param array<string, T> $byRegion
     * @return array<string, T> of the regions of this writer
     */
    private function own(array $byRegion): array
    {
        return $this->share === null
            ? $byRegion
            : array_intersect_key($byRegion, array_flip($this->share->codes));
    }

    /** @throws EmptyPublication */
    private function requireFilled(RankedLists $lists, int $fullSince): void
    {
        $filled = array_keys(
            $this->own(
                array_column($this->database->rows(self::FILLED_REGIONS, [$fullSince]), 'region', 'region'),
            ),
        );
        $lost = array_values(
            array_filter($filled, static fn(string $region): bool => $lists->isEmptyByAccident($region)),
        );
        if ($lost !== []) {
            throw EmptyPublication::of($lost);
        }
    }

    /**
     * @param array<string, ?int> $newestByRegion UTC seconds of the newest observation; null without any
     * @param int $latest UTC seconds: what was observed after it is of the future
     */
    private function collect(array $newestByRegion, int $now, int $latest): RankedLists
    {
        $leaveBefore = array_map(
            fn(?int $newest): int => ($newest ?? 0) - self::MAX_UNOBSERVED_HOURS * 3600,
            $newestByRegion,
        );
        $lists = new RankedLists($now, channelLimit: $this->channelLimit);
        $learning = new LearningRegions($this->database, $this->share);
        $removals = new Removals($this->database);
        [$videos, $channels] = array_map($removals->names(...), [RemovalKind::Video, RemovalKind::Channel]);
        $velocities = $this->database->prepare(self::VELOCITIES)->execute();
        while (($row = $velocities->fetchArray(SQLITE3_ASSOC)) !== false) {
            $region = $row['region'];
            if (!isset($leaveBefore[$region])) {
                continue; // another writer's
            }
            if ($row['last_observed_at'] > $latest) {
                $lists->skipFuture();
            } elseif (isset($videos[$row['video_id']]) || isset($channels[$row['channel']])) {
                $lists->skipRemoved($region, $row['video_id']);
            } elseif ($row['last_observed_at'] >= $leaveBefore[$region]) {
                ($learning->has($region) ? $learning->add(...) : $lists->offer(...))(
                    $region,
                    $row['video_id'],
                    $row['channel'],
                    $row['category'],
                    $row['language'],
                    $row['published_at'],
                    Velocity::fromRow($row),
                );
            }
        }
        $velocities->finalize();
        $learning->offerTo($lists, $videos, $channels, $now, $this->exploreShare);
        $lists->formula = $learning->formula();

        return $lists;
    }
}

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
            $lists->channelLimit->videos,
            $lists->channelLimit->withinRanks,
            $comparedAt,
            Forecast::TAPER_HOURS,
            json_encode($this->sources, JSON_THROW_ON_ERROR),
            $this->exploreShare,
            $lists->removedCount(),
            (int) $lists->usesImpressions,
        ]);
        $id = $this->database->connection->lastInsertRowID();
        foreach ($newestByRegion as $region => $newest) {
            $this->database->run(self::ADD_REGION, [
                $id,
                $region,
                $lists->videoCount($region),
                $newest,
                $lists->impressionWeight($region),
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

/** A published ranking. */
final readonly class Generation
{
    public function __construct(
        public int $id,
        public int $publishedAt,
        public int $videoCount,
        public int $rowCount,
        /** Velocities that do not rank, because their newest observation is of the future. */
        public int $futureCount,
    ) {}
}

/** A generation would have no list for regions that have one now. */
final class EmptyPublication extends WriterException
{
    /** @param non-empty-list<string> $regions */
    public static function of(array $regions): self
    {
        return new self(
            'Nothing was published: the lists of ' .
                implode(', ', $regions) .
                ' would be empty, and are not now. The last generation is still served. After a wrong clock run' .
                ' `writer repair`; if they are to be empty, `writer rank --allow-empty`.',
        );
    }
}

final class ClockBackwards extends WriterException
{
    public static function before(int $now, int $publishedAt): self
    {
        [$clock, $newest] = [Rfc3339::format($now), Rfc3339::format($publishedAt)];

        return new self(
            "Cannot publish: the clock says $clock, but the newest generation is from $newest. Correct the clock;" .
                ' if it was wrong then and is right now, run `writer repair` once.',
        );
    }

    public static function beforeAllObservations(int $now, int $oldest): self
    {
        [$clock, $first] = [Rfc3339::format($now), Rfc3339::format($oldest)];

        return new self(
            "Cannot repair: the clock says $clock, but the first observation is from $first, so the clock is wrong. Correct it.",
        );
    }
}
