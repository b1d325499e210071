<?php

declare(strict_types=1);

namespace TrendVault\Writer\Ranking;

use Generator;
use TrendVault\Writer\Database\Database;
use TrendVault\Writer\Database\RegionTable;
use TrendVault\Writer\Database\RemovalKind;
use TrendVault\Writer\Database\Removals;
use TrendVault\Writer\Editorial\Pin;
use TrendVault\Writer\Editorial\Rules;
use TrendVault\Writer\Editorial\Ruling;
use TrendVault\Writer\ExitCode;
use TrendVault\Writer\Observations\Restrictions;
use TrendVault\Writer\Time\Rfc3339;
use TrendVault\Writer\Time\SystemClock;
use TrendVault\Writer\WriterException;

/** Makes a generation from all velocities and publishes it in one transaction. */
final readonly class RankingPublisher
{
    private const string NEWEST_BY_REGION = <<<'SQL'
    WITH newest AS (SELECT region, max(last_observed_at) AS at FROM velocity WHERE last_observed_at <= ? GROUP BY region)
    SELECT r.code, n.at AS newest FROM regions AS r LEFT JOIN newest AS n ON n.region = r.code ORDER BY r.code
    SQL;
    private const string FILLED_REGIONS = <<<'SQL'
    SELECT region FROM generation_regions
    WHERE generation = (SELECT max(id) FROM generations WHERE id < ?) AND video_count > 0 AND newest_observed_at >= ? ORDER BY region
    SQL;

    /**
     * @param float $exploreShare of the impressions may go to ranks that were not earned, see Trials
     * @param list<array{kind: string, host: ?string}> $sources where counts come from, to be stored with the lists
     * @param ?RegionTable $regions nothing is ranked of other regions, also where videos of them are stored; null for all
     * @param list<Pin> $pins what editors placed; those that are over are left out
     */
    public function __construct(
        private Database $database,
        private float $exploreShare = 0.0,
        private array $sources = [],
        private ?RegionTable $regions = null,
        private ChannelLimit $channelLimit = new ChannelLimit(),
        private array $pins = [],
        private ?Rules $rules = null,
    ) {}

    /**
     * @param int $now UTC seconds
     * @param ?int $fullSince UTC seconds: a region that has a list, and was observed since then, must not lose it; null
     *   lets every list become empty
     * @throws NotPublished when the newest generation is of a later time, or a list would become empty
     */
    public function publish(int $now, ?int $fullSince = null): Generation
    {
        $newest = (int) $this->database->value(
            'SELECT published_at FROM generations ORDER BY id DESC LIMIT 1',
        );
        if ($now < $newest - SystemClock::TOLERANCE_SECONDS) {
            throw NotPublished::clockBefore($now, $newest);
        }

        return $this->publishAt(max($now, $newest), max($now, $newest), $fullSince);
    }

    /**
     * As publish(), but does not compare the time with the newest generation's.
     *
     * @param int $now UTC seconds
     * @param ?int $clock UTC seconds: videos whose newest observation is of the future do not rank; null for all
     * @param ?int $fullSince as for publish()
     * @throws NotPublished
     */
    public function publishAt(int $now, ?int $clock = null, ?int $fullSince = null): Generation
    {
        [$lists, $newestByRegion] = $this->make($now, $clock);
        $writer = new GenerationWriter($this->database, $this->exploreShare, $this->sources, $this->regions);

        return $this->database->transaction(function () use (
            $writer,
            $lists,
            $newestByRegion,
            $now,
            $fullSince,
        ): Generation {
            $generation = $writer->write($lists, $newestByRegion, $now);
            if ($fullSince !== null) {
                $this->requireFilled($lists, $generation->id, $fullSince);
            }

            return $generation;
        });
    }

    /**
     * The lists as they would be published, without publishing them.
     *
     * @param int $now UTC seconds
     * @return array<string, list<string>> ids by rank, by region, window and name of the list
     */
    public function preview(int $now): array
    {
        $ids = [];
        foreach ($this->make($now, $now)[0]->ranked() as $list) {
            $ids[trim("$list->region {$list->window->value} $list->category")] = array_column(
                $list->candidates,
                'videoId',
            );
        }

        return $ids;
    }

    /** @return array{RankedLists, array<string, ?int>} and the newest observations, as in publishAt() */
    private function make(int $now, ?int $clock): array
    {
        $latest = $clock === null ? PHP_INT_MAX : $clock + SystemClock::TOLERANCE_SECONDS;
        /** @var list<array{code: string, newest: ?int}> $newest */
        $newest = $this->database->rows(self::NEWEST_BY_REGION, [$latest]);
        $newestByRegion = $this->own(array_column($newest, 'newest', 'code'));
        $pins = array_filter($this->pins, static fn(Pin $pin): bool => $pin->until > $now);
        $lists = new RankedLists($now, channelLimit: $this->channelLimit, pins: array_values($pins));
        $videos = new RankableVideos(
            $this->database,
            $lists,
            $newestByRegion,
            $latest,
            $now,
            rules: $this->rules,
        );
        $videos->offer($this->exploreShare);

        return [$lists, $newestByRegion];
    }

    /**
     * @template T
     * @param array<string, T> $byRegion
     * @return array<string, T> of the regions of this writer
     */
    private function own(array $byRegion): array
    {
        return $this->regions === null
            ? $byRegion
            : array_intersect_key($byRegion, array_flip($this->regions->own));
    }

    /** @throws NotPublished */
    private function requireFilled(RankedLists $lists, int $generation, int $fullSince): void
    {
        $filled = array_keys(
            $this->own(
                array_fill_keys(
                    $this->database->texts(self::FILLED_REGIONS, [$generation, $fullSince]),
                    true,
                ),
            ),
        );
        $lost = array_values(
            array_filter($filled, static fn(string $region): bool => $lists->isEmptyByAccident($region)),
        );
        if ($lost !== []) {
            throw NotPublished::emptied($lost);
        }
    }
}

/**
 * Which videos may rank in which region. Removed ones are noted in the lists.
 *
 * @type Video = array{
 *   video_id: string, channel: string, category: ?string, kinds: string, published_at: ?int, held_because: ?string,
 *   available_from: ?int, available_until: ?int, countries: ?string, ...
 * }
 * @type Counted = array{
 *   video_id: string, channel: string, category: ?string, kinds: string, published_at: ?int, first_seen_at: int,
 *   region: string, held_because: ?string, available_from: ?int, available_until: ?int, countries: ?string,
 *   first_observed_at: int, last_observed_at: int, observation_count: int, views: int, views_per_hour: float,
 *   rated_at: float, previous_views_per_hour: ?float, levels: ?string, is_hidden?: true,
 * } a row of COUNTED
 * @type Announced = array{
 *   video_id: string, channel: string, category: ?string, kinds: string, published_at: ?int, first_seen_at: int,
 *   held_because: ?string, available_from: ?int, available_until: ?int, countries: ?string,
 * } a row of ANNOUNCED
 * @type Seen = array{
 *   video_id: string, channel: string, category: ?string, kinds: string, published_at: ?int, first_seen_at: int,
 *   held_because: ?string, available_from: ?int, available_until: ?int, countries: ?string,
 *   first_observed_at: int, last_observed_at: int, observation_count: int, views: int, views_per_hour: float,
 *   rated_at: float, previous_views_per_hour: ?float, levels: ?string,
 * } a row of SEEN, where it was counted
 */
final class RankableVideos
{
    /** A video leaves when its region was observed for more hours without it. */
    public const int MAX_UNOBSERVED_HOURS = 48;
    /**
     * So many videos of a region that are counted elsewhere fit into memory where it learns from impressions, too: those
     * with most views an hour. What only the catalogue names needs none.
     */
    public const int MOST_COUNTED = 250_000;
    /**
     * What is read, and of which rows: between them stands what lists by kind and rules need. And since when a video has
     * been known in the region, which is the first that a count or a catalogue named it there, and not what they say of it.
     */
    private const array COUNTED = [
        'SELECT y.region, y.video_id, v.channel, v.category, v.published_at, v.first_seen_at, ' .
        Restrictions::COLUMNS .
        ', ' .
        Velocity::COLUMNS,
        ' FROM velocity AS y JOIN videos AS v ON v.id = y.video_id WHERE y.region IN (SELECT value FROM json_each(?))',
        'min(max(y.first_observed_at, y.first_counted_at), ifnull((SELECT min(first_announced_at) FROM catalogue' .
        ' WHERE region = y.region AND video_id = y.video_id), max(y.first_observed_at, y.first_counted_at)))',
    ];
    private const array ANNOUNCED = [
        'SELECT c.video_id, v.channel, v.category, v.published_at, v.first_seen_at, ' . Restrictions::COLUMNS,
        ' FROM catalogue AS c JOIN videos AS v ON v.id = c.video_id WHERE c.region = ?',
        'min(c.first_announced_at, ifnull((SELECT max(first_observed_at, first_counted_at) FROM velocity' .
        ' WHERE video_id = c.video_id AND region = c.region), c.first_announced_at))',
    ];
    private const string SEEN =
        "SELECT v.id AS video_id, v.channel, v.category, '' AS kinds, v.published_at, v.first_seen_at, " .
        Restrictions::COLUMNS .
        ', ' .
        Velocity::COLUMNS .
        ' FROM videos AS v LEFT JOIN velocity AS y ON y.video_id = v.id AND y.region = ?1' .
        ' WHERE v.id IN (SELECT video_id FROM impressions WHERE region = ?1)';
    private const string RESTRICTED = 'SELECT 1 FROM restrictions LIMIT 1';
    private const string LEARNING = <<<'SQL'
    SELECT code FROM regions WHERE EXISTS (SELECT 1 FROM impressions WHERE region = code)
      OR EXISTS (SELECT 1 FROM catalogue WHERE region = code) ORDER BY code
    SQL;

    private readonly ImpressionStore $impressions;
    /** @var array<string, int> UTC seconds, by region: what was observed before has left */
    private readonly array $leaveBefore;
    /** @var array<int|string, int> removed videos, by id */
    private readonly array $removedVideos;
    /** @var array<int|string, int> removed channels, by name */
    private readonly array $removedChannels;

    /**
     * @param array<string, ?int> $newestByRegion UTC seconds of the newest observation, null without any; of no other regions
     * @param int $latest UTC seconds: what was observed after it is of the future
     * @param int $now UTC seconds
     */
    public function __construct(
        private readonly Database $database,
        private readonly RankedLists $lists,
        array $newestByRegion,
        private readonly int $latest,
        private readonly int $now,
        private readonly int $mostCounted = self::MOST_COUNTED,
        private readonly ?Rules $rules = null,
    ) {
        $this->impressions = new ImpressionStore($database);
        $this->leaveBefore = array_map(
            static fn(?int $newest): int => ($newest ?? 0) - self::MAX_UNOBSERVED_HOURS * 3600,
            $newestByRegion,
        );
        $removals = new Removals($database);
        $this->removedVideos = $removals->names(RemovalKind::Video);
        $this->removedChannels = $removals->names(RemovalKind::Channel);
    }

    /**
     * Offers all to the lists: at once, or, where a region ranks by more than the forecast, when its lists are made.
     * Such are the regions with impressions, and those with a catalogue.
     */
    public function offer(float $exploreShare): void
    {
        $learning = array_intersect($this->database->texts(self::LEARNING), array_keys($this->leaveBefore));
        foreach ($this->counted(array_diff(array_keys($this->leaveBefore), $learning), '') as $row) {
            $ruling = $this->ruling($row, $row['region'], $row['views_per_hour']);
            if ($ruling?->factor === 0.0) {
                continue;
            }
            $this->lists->offer(
                $row['region'],
                $row['video_id'],
                $row['channel'],
                $row['category'],
                $row['kinds'],
                $row['published_at'],
                Velocity::fromRow($row, $this->now),
                $ruling,
            );
        }
        // In the order in which the lists are made.
        $rows = $this->counted($learning, ' ORDER BY y.region, y.views_per_hour DESC, y.video_id');
        foreach ($learning as $region) {
            $this->lists->offerLater($region, fn() => $this->offerLearning($region, $rows, $exploreShare));
        }
    }

    /** @param Generator<int, Counted> $rows see counted(); those of the region are next */
    private function offerLearning(string $region, Generator $rows, float $exploreShare): void
    {
        $counts = $this->impressions->counts($region);
        $contenders = [];
        $all = true;
        for (; ($row = $rows->current()) !== null && $row['region'] === $region; $rows->next()) {
            $key = "#{$row['video_id']}";
            $isHidden = isset($row['is_hidden']);
            if (count($contenders) >= $this->mostCounted && !isset($counts[$key])) {
                if ($isHidden) {
                    continue;
                }
                $this->lists->leaveOut($region);
                $all = false;
                continue;
            }
            $contenders[$key] = self::contender(
                $row,
                Velocity::fromRow($row, $this->now),
                $counts[$key] ?? [],
                $isHidden ? null : $this->ruling($row, $region, $row['views_per_hour']),
                $isHidden,
            );
        }
        foreach (array_diff_key($counts, $contenders) as $key => $some) {
            $id = substr($key, 1);
            foreach ($this->announced($region, ' AND c.video_id = ?', [$id]) as $row) {
                $contenders[$key] = self::contender(
                    $row,
                    Velocity::none($row['first_seen_at']),
                    $some,
                    $this->ruling($row, $region),
                );
            }
        }
        $contenders += $this->removed($region, $counts);
        ksort($contenders, SORT_STRING); // sums of floating point do not depend on what is stored in which order
        $this->lists->offerAll(
            $region,
            array_values($contenders),
            $this->impressions->traffic($region, $this->now),
            $exploreShare,
            unknown: $this->unknown($region, $contenders, $all),
            audience: $this->impressions->audience($region),
        );
    }

    /**
     * The videos with impressions that were removed or may not be shown: that is to change no other score.
     *
     * @param array<string, list<ClickCounts>> $counts by "#" and id
     * @return array<string, Contender> by "#" and id
     */
    private function removed(string $region, array $counts): array
    {
        if (
            $this->removedVideos === [] &&
            $this->removedChannels === [] &&
            $this->database->number(self::RESTRICTED) === null
        ) {
            return [];
        }
        $removed = [];
        foreach ($this->database->each(self::SEEN, [$region]) as $row) {
            $isCounted = $row['first_observed_at'] !== null;
            /** @var Seen $row */
            $key = "#{$row['video_id']}";
            $isShown = !$this->isRemoved($row) && Restrictions::reason($row, $region, $this->now) === null;
            if (!$isShown && isset($counts[$key])) {
                $velocity = $isCounted ? Velocity::fromRow($row) : Velocity::none($row['first_seen_at']);
                $removed[$key] = self::contender($row, $velocity, $counts[$key], isRemoved: true);
            }
        }

        return $removed;
    }

    /**
     * @param array<string, Contender> $known by "#" and id
     * @param bool $all whether all that are counted are known
     * @return Generator<Contender> those that only the catalogue names, by id
     */
    private function unknown(string $region, array $known, bool $all): Generator
    {
        $uncounted =
            ' AND NOT EXISTS (SELECT 1 FROM velocity WHERE video_id = c.video_id AND region = c.region)';
        foreach ($this->announced($region, ($all ? '' : $uncounted) . ' ORDER BY c.video_id') as $row) {
            if (isset($known["#{$row['video_id']}"])) {
                continue;
            }
            $ruling = $this->ruling($row, $region);
            if ($ruling?->factor !== 0.0) {
                yield self::contender($row, Velocity::none($row['first_seen_at']), [], $ruling);
            }
        }
    }

    /**
     * @param array<string> $regions
     * @param string $order SQL
     * @return Generator<int, Counted> one for each video of a region that may rank and, in an order, of those that are hidden
     */
    private function counted(array $regions, string $order): Generator
    {
        $query = $this->database->each($this->complete(self::COUNTED) . $order, [
            json_encode(array_values($regions), JSON_THROW_ON_ERROR),
        ]);
        foreach ($regions === [] ? [] : $query as $row) {
            /** @var Counted $row */
            $region = $row['region'];
            if ($row['last_observed_at'] > $this->latest) {
                $this->lists->skipFuture();
                continue;
            }
            if ($this->isRemoved($row)) {
                $this->lists->skipRemoved($region, $row['video_id']);
                $row['is_hidden'] = true;
            } elseif (Restrictions::reason($row, $region, $this->now) !== null) {
                $this->noteRestricted($row, $region, $row['views_per_hour']);
                $row['is_hidden'] = true;
            }
            $mayYield = !isset($row['is_hidden']) || $order !== '';
            if ($mayYield && $row['last_observed_at'] >= $this->leaveBefore[$region]) {
                yield $row;
            }
        }
    }

    /**
     * @param string $condition SQL
     * @param list<string> $values of the condition
     * @return Generator<int, Announced> one for each video that may rank
     */
    private function announced(string $region, string $condition, array $values = []): Generator
    {
        $last = null;
        foreach (
            $this->database->each($this->complete(self::ANNOUNCED) . $condition, [$region, ...$values])
            as $row
        ) {
            /** @var Announced $row */
            if ($row['video_id'] === $last) {
                continue; // Several sources may name it.
            }
            $last = $row['video_id'];
            if ($this->isRemoved($row)) {
                $this->lists->skipRemoved($region, $row['video_id']);
            } elseif (($row['published_at'] ?? 0) > $this->latest) {
                $this->ruling($row, $region); // It is not published yet.
            } elseif (Restrictions::reason($row, $region, $this->now) !== null) {
                $this->noteRestricted($row, $region);
            } else {
                yield $row;
            }
        }
    }

    /** @param array{string, string, string} $query as COUNTED */
    private function complete(array $query): string
    {
        [$read, $rows, $knownSince] = $query;

        return $read .
            ', ' .
            ListKinds::sql($this->now) .
            ($this->rules?->columns($knownSince) ?? '') .
            $rows;
    }

    /**
     * What editors decided of a video, which is noted.
     *
     * @param array{video_id: string, channel: string, category: ?string, title?: string, titles?: ?string, tags?: ?string, described_by?: ?int, known_since?: int, category_since?: int, ...} $row
     */
    private function ruling(array $row, string $region, float $viewsPerHour = 0.0): ?Ruling
    {
        $ruling = $this->rules?->of($row, $region, $row['known_since'] ?? 0, $this->now);
        if ($ruling !== null) {
            $this->lists->noteRuling($region, $row['video_id'], $viewsPerHour, $ruling);
        }

        return $ruling;
    }

    /**
     * Editors see what waits for them, too: else it would enter unseen when its source takes the restriction back.
     *
     * @param Counted|Announced $row
     */
    private function noteRestricted(array $row, string $region, float $viewsPerHour = 0.0): void
    {
        if ($this->ruling($row, $region, $viewsPerHour)?->factor !== 0.0) {
            $this->lists->skipRestricted($region);
        }
    }

    /** @param Video $row */
    private function isRemoved(array $row): bool
    {
        return isset($this->removedVideos[$row['video_id']]) ||
            isset($this->removedChannels[$row['channel']]);
    }

    /**
     * @param Video $row
     * @param list<ClickCounts> $counts
     */
    private static function contender(
        array $row,
        Velocity $velocity,
        array $counts,
        ?Ruling $ruling = null,
        bool $isRemoved = false,
    ): Contender {
        return new Contender(
            $row['video_id'],
            $row['channel'],
            $row['category'],
            $row['published_at'],
            $velocity,
            $counts,
            $row['kinds'],
            $isRemoved || $ruling?->factor === 0.0,
            $ruling,
            $row['first_seen_at'],
        );
    }
}

/** Writes a generation: its lists, where their videos were an hour before, and how they grew. The caller holds the transaction. */
final readonly class GenerationWriter
{
    private const string ADD_GENERATION = <<<'SQL'
    INSERT INTO generations (id, published_at, formula, video_count, max_per_channel, max_per_channel_ranks, previous_at, taper_hours, sources, explore_share)
    VALUES (?, ?, ?, 0, ?, ?, ?, ?, ?, ?)
    SQL;
    private const string DESCRIBE_GENERATION = 'UPDATE generations SET formula = ?, video_count = ?, removed_videos = ?, looks_counted = ? WHERE id = ?';
    private const string ADD_REGION = 'INSERT INTO generation_regions (generation, region, video_count, newest_observed_at, look_weight) VALUES (?, ?, ?, ?, ?)';
    private const string ADD_RANK = <<<'SQL'
    INSERT INTO trending (generation, region, window, category, rank, video_id, score, views, views_per_hour, previous_views_per_hour, previous_rank, expected_views, placed, placed_until, title_in_region)
    VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
    SQL;
    private const string ADD_PLACED = <<<'SQL'
    INSERT INTO placed_ranks (region, window, category, rank, video_id, first_at, last_at, model_rate) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?6, ?7)
    ON CONFLICT DO UPDATE SET last_at = excluded.last_at, model_rate = excluded.model_rate
    SQL;
    /** Older origins would show a placed video as if its score had earned the rank. */
    private const int FIRST_READER_OF_PLACED = 38;
    private const string ANY_TITLES = 'SELECT 1 FROM details WHERE titles IS NOT NULL LIMIT 1';
    private const string TITLES = <<<'SQL'
    SELECT d.video_id, d.titles, v.title, v.language FROM json_each(?) AS listed
    CROSS JOIN details AS d ON d.video_id = listed.value AND d.titles IS NOT NULL CROSS JOIN videos AS v ON v.id = d.video_id
    SQL;
    private const string ADD_EXPLORED = 'INSERT INTO explored_ranks (generation, region, window, category, rank) VALUES (?, ?, ?, ?, ?)';

    /**
     * @param list<array{kind: string, host: ?string}> $sources
     * @param ?RegionTable $regions decides on the generation's number; null for the next one
     */
    public function __construct(
        private Database $database,
        private float $exploreShare,
        private array $sources,
        private ?RegionTable $regions = null,
    ) {}

    /**
     * @param array<string, ?int> $newestByRegion UTC seconds of the newest observation; null without any
     * @param int $now UTC seconds
     */
    public function write(RankedLists $lists, array $newestByRegion, int $now): Generation
    {
        $history = RankHistory::at($this->database, $now);
        $id = $this->begin($now, $history->comparedAt, $lists->channelLimit);
        $history->forget();
        $hourlyViews = new HourlyViews($this->database);
        $explanations = new ExplanationStore($this->database, $id, $lists);
        $rows = 0;
        $languages = $this->database->number(self::ANY_TITLES) === null ? [] : $this->languages();
        [$titles, $region] = [[], null];
        foreach ($lists->ranked() as $list) {
            if ($languages !== []) {
                $titles = $list->region === $region ? $titles : [];
                $region = $list->region;
                $titles += $this->titles($list, $titles, $languages[$region] ?? []);
            }
            $this->writeList($id, $list, $history->before($list), $lists->expectedViews($list), $titles);
            $this->notePlaced($list, $lists, $now);
            $history->keep($list);
            $hourlyViews->add($list);
            $explanations->add($list);
            $rows += count($list->candidates);
        }
        $hourlyViews->update($now);
        $explanations->save();
        $this->describe($id, $lists, $newestByRegion);

        return new Generation(
            $id,
            $now,
            $lists->totalVideoCount(),
            $rows,
            $lists->futureCount(),
            $lists->leftOut(),
            $lists->formula(),
        );
    }

    /** @return array<string, list<string>> BCP 47 tags by region, the main one first */
    private function languages(): array
    {
        $languages = [];
        /** @var array{code: string, languages: string} $row */
        foreach ($this->database->rows('SELECT code, languages FROM regions') as $row) {
            /** @var list<string> $tags */
            $tags = json_decode($row['languages'], true);
            $languages[$row['code']] = $tags;
        }

        return $languages;
    }

    /**
     * The titles of a list's videos in a language of its region.
     *
     * @param array<?string> $known those of other lists of the region
     * @param list<string> $spoken
     * @return array<?string> by id, with the language and a space in front; null where the video's own is shown
     */
    private function titles(RankedList $list, array $known, array $spoken): array
    {
        $ids = array_column($list->candidates, 'videoId', 'videoId');
        $titles = array_fill_keys(array_keys(array_diff_key($ids, $known)), null);
        $wanted = json_encode(array_map(strval(...), array_keys($titles)), JSON_THROW_ON_ERROR);
        foreach ($titles === [] ? [] : $this->database->each(self::TITLES, [$wanted]) as $row) {
            /** @var array{video_id: string, titles: string, title: string, language: ?string} $row */
            /** @var array<string, string> $named */
            $named = json_decode($row['titles'], true);
            $tag = self::chosen($named, $row['language'], $spoken);
            $titles[$row['video_id']] =
                $tag === null || $named[$tag] === $row['title'] ? null : "$tag $named[$tag]";
        }

        return $titles;
    }

    /**
     * The first language of the region counts that there is a title in: its primary subtag decides, the same tag goes
     * before others. The video's own title is one, too, where its language is known.
     *
     * @param array<string, string> $titles by tag
     * @param list<string> $spoken
     * @return ?string the tag; null for the video's own title
     */
    private static function chosen(array $titles, ?string $own, array $spoken): ?string
    {
        $primary = static fn(string $tag): string => strtolower(explode('-', $tag, 2)[0]);
        ksort($titles, SORT_STRING);
        foreach ($spoken as $language) {
            $isSame = static fn(string $tag): bool => strcasecmp($tag, $language) === 0;
            $isNear = static fn(string $tag): bool => $primary($tag) === $primary($language);
            $same = array_find(array_keys($titles), $isSame);
            if ($same !== null || ($own !== null && $isSame($own))) {
                return $same;
            }
            $near = array_find(array_keys($titles), $isNear);
            if ($near !== null || ($own !== null && $isNear($own))) {
                return $near;
            }
        }

        return null;
    }

    /** @return int the generation's id */
    private function begin(int $now, ?int $comparedAt, ChannelLimit $limit): int
    {
        $this->database->run(self::ADD_GENERATION, [
            $this->regions?->numberAfter(RegionTable::lastNumber($this->database)),
            $now,
            Forecast::VERSION,
            $limit->videos,
            $limit->withinRanks,
            $comparedAt,
            Forecast::TAPER_HOURS,
            json_encode($this->sources, JSON_THROW_ON_ERROR),
            $this->exploreShare,
        ]);

        return $this->database->connection->lastInsertRowID();
    }

    /**
     * Writes what is known of a generation when its lists are made.
     *
     * @param array<string, ?int> $newestByRegion
     */
    private function describe(int $id, RankedLists $lists, array $newestByRegion): void
    {
        $this->database->run(self::DESCRIBE_GENERATION, [
            $lists->formula(),
            $lists->totalVideoCount(),
            $lists->removedCount(),
            (int) $lists->usesImpressions(),
            $id,
        ]);
        foreach ($newestByRegion as $region => $newest) {
            $this->database->run(self::ADD_REGION, [
                $id,
                $region,
                $lists->videoCount($region),
                $newest,
                $lists->impressionWeight($region),
            ]);
        }
    }

    /**
     * @param array<int> $before the ranks of before, from 0, by id
     * @param ?list<float> $expectedViews by rank
     * @param array<?string> $titles see titles()
     */
    private function writeList(
        int $generation,
        RankedList $list,
        array $before,
        ?array $expectedViews,
        array $titles,
    ): void {
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
            $insert->bindValue(12, $expectedViews[$index] ?? null);
            [$pin, $modelRank] = $list->placed[$index] ?? [null, null];
            $insert->bindValue(13, $pin?->label($modelRank));
            $insert->bindValue(14, $pin?->until);
            $insert->bindValue(15, $titles[$candidate->videoId] ?? null);
            $insert->execute();
            if ($candidate->isExplored && $pin === null) {
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

    /** So that what visitors do with a placed video is not counted as its own, and can be compared. */
    private function notePlaced(RankedList $list, RankedLists $lists, int $now): void
    {
        foreach ($list->placed as $index => [$pin]) {
            $this->database->run(self::ADD_PLACED, [
                $list->region,
                $list->window->value,
                $list->category,
                $index + 1,
                $pin->videoId,
                $now,
                $lists->clicksPerImpression($list->region, $index + 1, $list->model[$index] ?? null),
            ]);
        }
        $oldestReader = $this->database->number('PRAGMA user_version') ?? 0;
        if ($list->placed !== [] && $oldestReader < self::FIRST_READER_OF_PLACED) {
            $this->database->execute('PRAGMA user_version = ' . self::FIRST_READER_OF_PLACED);
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
        /** @var array<string, int> videos that do not rank, because there are too many, by region */
        public array $leftOut,
        public string $formula,
    ) {}
}

/** A generation that would be wrong is not published. */
final class NotPublished extends WriterException
{
    /** @param non-empty-list<string> $regions that would lose their lists */
    public static function emptied(array $regions): self
    {
        return new self(
            'Nothing was published: the lists of ' .
                implode(', ', $regions) .
                ' would be empty, and are not now. The last generation is still served. After a wrong clock run' .
                ' `writer repair`; if they are to be empty, `writer rank --allow-empty`.',
            ExitCode::EmptyPublication,
        );
    }

    public static function clockBefore(int $now, int $publishedAt): self
    {
        [$clock, $newest] = [Rfc3339::format($now), Rfc3339::format($publishedAt)];

        return new self(
            "Cannot publish: the clock says $clock, but the newest generation is from $newest. Correct the clock;" .
                ' if it was wrong then and is right now, run `writer repair` once.',
            ExitCode::ClockBackwards,
        );
    }
}
