<?php

declare(strict_types=1);

namespace TrendVault\Writer\Ranking;

use TrendVault\Writer\Database\Database;
use TrendVault\Writer\Database\RegionShare;
use TrendVault\Writer\Database\RemovalKind;
use TrendVault\Writer\Database\Removals;

/** Makes a generation from all velocities and publishes it in one transaction. */
final readonly class RankingPublisher
{
    /** A clock that was set back by less is no failure; an observation that is ahead by more is of the future. */
    public const int CLOCK_TOLERANCE_SECONDS = 300;

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
     * @param int $maxUnobservedHours a video leaves when its region was observed for more hours without it
     * @param float $exploreShare of the looks may go to ranks that were not earned, see Exploration
     * @param list<array{kind: string, host: ?string}> $sources where counts come from, to be stored with the lists
     * @param ?RegionShare $share nothing is ranked of other regions, also where videos of them are stored; null for all
     */
    public function __construct(
        private Database $database,
        private int $maxUnobservedHours,
        private float $exploreShare = 0.0,
        private array $sources = [],
        private ?RegionShare $share = null,
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
        if ($now < $newest - self::CLOCK_TOLERANCE_SECONDS) {
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
        $latest = $clock === null ? PHP_INT_MAX : $clock + self::CLOCK_TOLERANCE_SECONDS;
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
            fn(?int $newest): int => ($newest ?? 0) - $this->maxUnobservedHours * 3600,
            $newestByRegion,
        );
        $lists = new RankedLists($now);
        $looked = new LookedRegions($this->database, $this->share);
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
                ($looked->has($region) ? $looked->add(...) : $lists->offer(...))(
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
        $looked->offerTo($lists, $videos, $channels, $this->exploreShare);
        $lists->formula = $looked->formula();

        return $lists;
    }
}
