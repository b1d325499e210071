<?php

declare(strict_types=1);

namespace TrendVault\Writer\Ingest;

use SQLite3Stmt;
use TrendVault\Writer\Database\Database;
use TrendVault\Writer\Database\Erasures;
use TrendVault\Writer\Database\RemovalKind;
use TrendVault\Writer\Database\Removals;
use TrendVault\Writer\Observations\Announcement;
use TrendVault\Writer\Observations\Observation;
use TrendVault\Writer\Observations\ObservationParser;
use TrendVault\Writer\Observations\RejectedLine;
use TrendVault\Writer\Observations\RejectionReason;
use TrendVault\Writer\Observations\Removal;
use TrendVault\Writer\Observations\Restrictions;
use TrendVault\Writer\Ranking\Velocity;
use TrendVault\Writer\Sources\SourceFailure;
use TrendVault\Writer\Time\SystemClock;

/**
 * Stores one observation: its video when that is new or has changed, the history, the velocity. Or one announcement: the
 * video, and where the catalogue says that it may be listed. Or a removal. From begin() on, they are one source's: each
 * has its own regions of a video and its own removals, and one source describes a video (docs/decisions/0023).
 * A run does this once for each line, so it uses prepared statements directly; the caller holds the transaction.
 */
final class ObservationStore
{
    /** The name of all that is given to `ingest` and not in SOURCES. */
    public const string BY_HAND = 'by hand';
    /** Others may describe the videos of a source that gave no line for so long. */
    private const int SILENT_SECONDS = 48 * 3600;
    /** This part of a source's catalogue may leave at once. */
    private const int LEAVING_PART = 4;

    /** The parameter is a JSON array of region and video, as in "GB dQw4w9WgXcQ". */
    private const string FIND_VELOCITIES =
        'SELECT key.value AS key, y.description_hash, ' .
        Velocity::COLUMNS .
        ' FROM json_each(?1) AS key' .
        ' CROSS JOIN velocity AS y ON y.video_id = substr(key.value, 4) AND y.region = substr(key.value, 1, 2)';
    private const string ADD_OBSERVATION = <<<'SQL'
    INSERT INTO observations (observed_at, region, video_id, views, likes, comments, previous_observed_at)
    VALUES (?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING
    SQL;
    private const string FIND_VIEWS = 'SELECT views FROM observations WHERE observed_at = ? AND region = ? AND video_id = ?';
    private const string SAVE_VELOCITY = <<<'SQL'
    INSERT INTO velocity (video_id, region, first_observed_at, last_observed_at, observation_count, views, views_per_hour, rated_at, previous_views_per_hour, levels, description_hash, first_counted_at)
    VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
    ON CONFLICT DO UPDATE SET last_observed_at = excluded.last_observed_at, observation_count = excluded.observation_count,
      views = excluded.views, views_per_hour = excluded.views_per_hour, rated_at = excluded.rated_at, previous_views_per_hour = excluded.previous_views_per_hour,
      levels = excluded.levels, description_hash = excluded.description_hash
    SQL;

    private const array NEEDED_OF_VIDEO = ['title', 'channel', 'thumb_base'];
    private const string COLUMNS = 'title, channel, thumb_base, category, language, published_at, duration_seconds, url';
    /** In the order in which describe() has them. */
    private const string DESCRIPTION = self::COLUMNS . ', tags, licence, titles, pictures, described_by';
    private const string JOIN_DETAILS = ' LEFT JOIN details ON details.video_id = v.id';
    private const string SAVE_DETAILS = <<<'SQL'
    INSERT INTO details (video_id, tags, licence, titles, pictures) VALUES (?, ?, ?, ?, ?)
    ON CONFLICT DO UPDATE SET tags = excluded.tags, licence = excluded.licence, titles = excluded.titles,
      pictures = excluded.pictures
    SQL;
    private const string DELETE_DETAILS = 'DELETE FROM details WHERE video_id = ?';
    private const string SAVE_CATEGORY_SINCE = 'UPDATE videos SET category_since = ? WHERE id = ?';
    private const string SAVE_THUMBS = 'UPDATE videos SET thumbs = ? WHERE id = ?';
    /** The `thumb_base` of a video that has lost its pictures, and what lists show then: an empty one, of no host. */
    private const string NO_THUMB_BASE = 'https://none.invalid';
    private const string NO_PICTURE = "data:image/svg+xml,%3Csvg%20xmlns='http://www.w3.org/2000/svg'/%3E";
    /** Of the two pictures in lists the narrowest that are at least so wide. */
    private const array THUMB_WIDTHS = [640, 320];
    /** So that the next line about it is compared, also where it repeats what its source said before. */
    private const string COMPARE_AGAIN = 'UPDATE velocity SET description_hash = 0 WHERE video_id = ?';
    /** Of what a source's line repeats: the time, for lines that are older and come later. */
    private const string SAY_AGAIN = 'UPDATE restrictions SET said_at = ?1 WHERE video_id = ?2 AND source = ?3 AND said_at < ?1';
    private const string FIND_VIDEO =
        'SELECT ' . self::DESCRIPTION . ' FROM videos AS v' . self::JOIN_DETAILS . ' WHERE v.id = ?';
    private const string SAVE_VIDEO =
        'INSERT INTO videos (' .
        self::COLUMNS .
        <<<'SQL'
        , described_by, id, first_seen_at) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
        ON CONFLICT (id) DO UPDATE SET title = excluded.title, channel = excluded.channel, thumb_base = excluded.thumb_base,
          category = excluded.category, language = excluded.language, published_at = excluded.published_at,
          duration_seconds = excluded.duration_seconds, url = excluded.url, described_by = excluded.described_by
        SQL;
    /** The parameters are a JSON array of videos, and the source. Regions of source 0 were announced before sources were told apart. */
    private const string FIND_ANNOUNCED =
        "SELECT v.id, (SELECT group_concat(region || source || ',', '') FROM catalogue WHERE video_id = v.id AND source IN (0, ?2)) AS regions, " .
        self::DESCRIPTION .
        ' FROM json_each(?1) AS key CROSS JOIN videos AS v ON v.id = key.value' .
        self::JOIN_DETAILS;
    private const string SAVE_CATALOGUE = <<<'SQL'
    INSERT INTO catalogue (region, video_id, source, announced_at, reading, first_announced_at) VALUES (?1, ?2, ?3, ?4, ?5,
      ifnull((SELECT min(first_announced_at) FROM catalogue WHERE region = ?1 AND video_id = ?2), ?4))
    ON CONFLICT DO UPDATE SET announced_at = max(announced_at, excluded.announced_at), reading = excluded.reading
    SQL;
    private const string ANNOUNCE_AGAIN = <<<'SQL'
    UPDATE catalogue SET announced_at = max(announced_at, ?3), reading = ?4 WHERE video_id = ?1 AND source = ?2
    SQL;
    private const string LEAVE_CATALOGUE = 'DELETE FROM catalogue WHERE region = ? AND video_id = ? AND source = ?';

    private const string SOURCES = 'SELECT id, name, heard_at FROM sources';
    private const string HEAR = <<<'SQL'
    INSERT INTO sources (name, heard_at, reading) VALUES (?, ?, 1)
    ON CONFLICT DO UPDATE SET heard_at = excluded.heard_at, reading = reading + 1 RETURNING id, reading
    SQL;
    private const string COUNT = <<<'SQL'
    SELECT count(*) AS known, total(is_named) AS named
    FROM (SELECT max(reading = ?2) AS is_named FROM catalogue WHERE source = ?1 GROUP BY video_id)
    SQL;
    private const string RELEASE = <<<'SQL'
    UPDATE videos SET described_by = NULL
    WHERE described_by = ?1 AND id IN (SELECT video_id FROM catalogue WHERE source = ?1 AND reading <> ?2)
    SQL;
    private const string LEAVE = 'DELETE FROM catalogue WHERE source = ?1 AND reading <> ?2';

    private const string ANY_ERASED = 'SELECT 1 FROM erased LIMIT 1';

    private readonly SQLite3Stmt $addObservation;
    /** Null where nothing was erased. */
    private readonly ?Erasures $erasures;
    private readonly SQLite3Stmt $sayAgain;
    private readonly SQLite3Stmt $saveVelocity;
    private readonly SQLite3Stmt $saveCatalogue;
    private readonly SQLite3Stmt $announceAgain;
    /** @var array<string, ?Velocity> by region and video of the batch; null for a video that is new in its region */
    private array $velocities = [];
    /** @var array<string, int> of the last line about each of these videos; 0 where it was not the one to describe it */
    private array $descriptionHashes = [];
    /** @var array<string, true> by "#" and id: a line of the batch changed what restricts it, so further ones are compared */
    private array $restricted = [];
    /** @var array<string, int> by "#" and id: the time up to which the batch repeated what restricts it, in any region */
    private array $saidAgain = [];
    /** @var array<string, array<string, int|string|null>> by id, those of the batch of announcements that are stored */
    private array $videos = [];
    /** @var array<string, string> by id of that batch: regions with their sources, which are 0 and this one, such as DE3,GB3, */
    private array $regions = [];
    /** The id of the source that is read; 0 before a line of it was heard, and where sources are not told apart. */
    private int $source = 0;
    /** The number of the file or answer that is read. */
    private int $reading = 0;
    private ?string $name = null;
    /** The number of the line that says that the catalogue is complete; null where none does. */
    private ?int $completeAt = null;
    /** @var array<int, array{id: int, name: string, heard_at: int}> by id */
    private array $others = [];
    /** @var array<int, bool> by id */
    private array $mayDescribe = [];

    /**
     * @param int $now UTC seconds, stored as first_seen_at of a new video
     * @param list<string> $order names of sources: of two that describe a video, the first one counts
     * @param bool $allowLeaving how much of a catalogue may leave at once: true for all
     * @param array<string> $categories what sources call a category otherwise: its name, by that
     */
    public function __construct(
        private readonly Database $database,
        private readonly int $now,
        private readonly array $order = [],
        private readonly bool $allowLeaving = false,
        private readonly array $categories = [],
    ) {
        $this->addObservation = $database->prepare(self::ADD_OBSERVATION);
        $this->erasures = $database->value(self::ANY_ERASED) === null ? null : new Erasures($database);
        $this->sayAgain = $database->prepare(self::SAY_AGAIN);
        $this->saveVelocity = $database->prepare(self::SAVE_VELOCITY);
        $this->saveCatalogue = $database->prepare(self::SAVE_CATALOGUE);
        $this->announceAgain = $database->prepare(self::ANNOUNCE_AGAIN);
    }

    /** Whether a line, parsed or as it came, is about what was erased. */
    public function isErased(Observation|Announcement|Removal|string $line): bool
    {
        return $this->erasures !== null &&
            match (true) {
                is_string($line) => $this->erasures->areIn($line),
                $line instanceof Removal => $line->kind === RemovalKind::Video
                    ? $this->erasures->hasVideo($line->name)
                    : $this->erasures->hasChannel($line->name),
                default => $this->erasures->hasVideo($line->videoId) ||
                    $this->erasures->hasChannel(
                        (string) ($line instanceof Observation
                            ? $line->channel
                            : $line->description['channel']),
                    ),
            };
    }

    /** From now on all is about a file or an answer of this source. */
    public function begin(string $name): void
    {
        [$this->name, $this->source, $this->reading, $this->completeAt] = [$name, 0, 0, null];
    }

    /** Is called before the first lines are stored: a source without lines is silent. */
    public function hear(): void
    {
        if ($this->name === null || $this->source !== 0) {
            return;
        }
        /** @var array{id: int, reading: int} $heard a row */
        $heard = $this->database->row(self::HEAR, [$this->name, $this->now]);
        ['id' => $this->source, 'reading' => $this->reading] = $heard;
        /** @var list<array{id: int, name: string, heard_at: int}> $rows */
        $rows = $this->database->rows(self::SOURCES);
        [$this->others, $this->mayDescribe] = [array_column($rows, null, 'id'), []];
    }

    /**
     * Looks up the velocities of all videos of a batch at once: line by line it would be a third of the work.
     *
     * @param array<Observation> $observations
     */
    public function prepareFor(array $observations): void
    {
        $this->velocities = $this->descriptionHashes = $this->restricted = $this->saidAgain = [];
        foreach ($observations as $observation) {
            $this->velocities[self::key($observation)] = null;
        }
        $statement = $this->database->prepare(self::FIND_VELOCITIES);
        $statement->bindValue(1, json_encode(array_keys($this->velocities), JSON_THROW_ON_ERROR));
        $result = Database::expect($statement->execute());
        while (($row = $result->fetchArray(SQLITE3_ASSOC)) !== false) {
            /**
             * @var array{
             *   key: string, description_hash: int, first_observed_at: int, last_observed_at: int, observation_count: int,
             *   views: int, views_per_hour: float, rated_at: float, previous_views_per_hour: ?float,
             *   levels: ?string,
             * } $row
             */
            $this->velocities[$row['key']] = Velocity::fromRow($row);
            $this->descriptionHashes[$row['key']] = $row['description_hash'];
        }
        $result->finalize();
    }

    /**
     * @param Observation $observation one of those given to prepareFor()
     * @throws RejectedLine when a video is new and the line does not describe it
     */
    public function add(Observation $observation): Outcome
    {
        $key = self::key($observation);
        $before = $this->velocities[$key] ?? null;
        $isLate = $before !== null && $observation->observedAt < $before->lastObservedAt;
        if ($isLate) {
            $this->restrict($observation, $observation->observedAt);

            return $this->addToHistory($observation);
        }
        $descriptionHash = $observation->descriptionHash($this->source);
        $isOther =
            $descriptionHash !== ($this->descriptionHashes[$key] ?? null) ||
            isset($this->restricted["#$observation->videoId"]);
        if ($observation->observedAt === $before?->lastObservedAt) {
            if ($isOther) {
                $this->restrict($observation, $observation->observedAt);
            }

            return $this->addToHistory($observation);
        }
        $publishedAt = null;
        if ($isOther) {
            $description = $observation->description();
            /** @var ?array<string, int|string|null> $known */
            $known = $this->database->row(self::FIND_VIDEO, [$observation->videoId]);
            $video = $this->describe($observation->videoId, $description, $observation->unset, $known);
            if (!$this->restrict($observation, $observation->observedAt)) {
                $descriptionHash = 0; // The same again may be newer.
            }
            $publishedAt = is_int($video['published_at']) ? $video['published_at'] : null;
            if ($video['described_by'] !== $this->describer() && self::saysAnything($observation)) {
                $descriptionHash = 0; // Another source describes it: as soon as that one is silent, this one does.
            }
            if (array_any($observation->restrictions, static fn(mixed $said): bool => $said !== false)) {
                $descriptionHash = 0; // How long a video is live depends on when that was said last.
            }
        } elseif (
            self::mayRestrict($observation) &&
            $observation->observedAt > ($this->saidAgain["#$observation->videoId"] ?? 0)
        ) {
            $this->saidAgain["#$observation->videoId"] = $observation->observedAt;
            $this->sayAgain->bindValue(1, $observation->observedAt);
            $this->sayAgain->bindValue(2, $observation->videoId, SQLITE3_TEXT);
            $this->sayAgain->bindValue(3, $this->source);
            $this->sayAgain->execute();
        }
        $this->insert($observation, $before?->lastObservedAt);
        $velocity =
            $before === null
                ? Velocity::first($observation->observedAt, $observation->views, $publishedAt)
                : $before->next($observation->observedAt, $observation->views);
        $this->saveVelocity($observation, $velocity, $descriptionHash);
        $this->velocities[$key] = $velocity;
        $this->descriptionHashes[$key] = $descriptionHash;

        return Outcome::Accepted;
    }

    /**
     * As prepareFor(), for announce().
     *
     * @param array<Announcement> $announcements
     */
    public function prepareToAnnounce(array $announcements): void
    {
        $this->videos = $this->regions = $this->restricted = [];
        $ids = array_map(static fn(Announcement $one): string => $one->videoId, array_values($announcements));
        $statement = $this->database->prepare(self::FIND_ANNOUNCED);
        $statement->bindValue(1, json_encode($ids, JSON_THROW_ON_ERROR));
        $statement->bindValue(2, $this->source);
        $this->saveCatalogue->bindValue(3, $this->source);
        $this->saveCatalogue->bindValue(4, $this->now);
        $this->saveCatalogue->bindValue(5, $this->reading);
        $this->announceAgain->bindValue(2, $this->source);
        $this->announceAgain->bindValue(3, $this->now);
        $this->announceAgain->bindValue(4, $this->reading);
        $result = Database::expect($statement->execute());
        while (($row = $result->fetchArray(SQLITE3_ASSOC)) !== false) {
            /** @var array{id: string, regions: ?string, ...<string, int|string|null>} $row */
            ['id' => $id, 'regions' => $regions] = $row;
            unset($row['id'], $row['regions']);
            $this->videos[$id] = $row;
            if ($regions !== null) {
                $this->regions[$id] = $regions;
            }
        }
        $result->finalize();
    }

    /**
     * The regions replace those that the source named before, not another source's.
     *
     * @param Announcement $announcement one of those given to prepareToAnnounce()
     * @throws RejectedLine when the video is new and the line does not describe it
     */
    public function announce(Announcement $announcement): Outcome
    {
        [$id, $regions] = [$announcement->videoId, $announcement->regions];
        $before = $this->regions[$id] ?? '';
        if ($regions !== []) {
            $this->videos[$id] = $this->describe(
                $id,
                $announcement->description,
                $announcement->unset,
                $this->videos[$id] ?? null,
            );
            $this->restrict($announcement, $this->now);
        }
        sort($regions);
        $end = "$this->source,";
        $this->regions[$id] = $regions === [] ? '' : implode($end, $regions) . $end;
        if ($this->regions[$id] === $before) {
            $this->announceAgain->bindValue(1, $id, SQLITE3_TEXT);
            $this->announceAgain->execute();
        } else {
            $this->replaceRegions($id, $regions, $before);
        }

        return $regions === [] ? Outcome::OtherRegion : Outcome::Announced;
    }

    /** Takes down what a line of the source says, or takes that back: another's removal stays. */
    public function remove(Removal $removal): Outcome
    {
        $removals = new Removals($this->database);
        if ($removal->isTakenBack) {
            return $removals->takeBack($removal->kind, $removal->name, $this->source)
                ? Outcome::Allowed
                : Outcome::Unchanged;
        }
        $removals->remove($removal->kind, $removal->name, $removal->reason, $this->now, $this->source);

        return Outcome::Removed;
    }

    /** The file or answer said in this line that the lines before it name the whole catalogue. */
    public function complete(int $line): void
    {
        $this->completeAt = $line;
    }

    /**
     * Is called when it was read to its end: what the source named before, and not in a complete catalogue, leaves.
     *
     * @param int $rejected how many lines were rejected: what they named is not known
     * @param int $last the number of the last line
     * @return int how many videos left
     * @throws SourceFailure
     */
    public function end(int $rejected, int $last): int
    {
        if ($this->completeAt === null) {
            return 0;
        }
        if ($this->completeAt !== $last) {
            throw SourceFailure::because(
                "Nothing leaves the catalogue of $this->name: line $this->completeAt says that it is complete, and lines follow. Expected {\"complete\": true} on the last line.",
            );
        }
        if ($rejected > 0) {
            throw SourceFailure::because(
                "Nothing leaves the catalogue of $this->name: $rejected lines of it were rejected.",
            );
        }
        /** @var array{known: int, named: float} $count a row */
        $count = $this->database->row(self::COUNT, [$this->source, $this->reading]);
        [$known, $named] = [$count['known'], (int) $count['named']];
        $leaving = $known - $named;
        $most = $named === 0 ? 0 : max(1, intdiv($known, self::LEAVING_PART));
        if ($leaving > $most && !$this->allowLeaving) {
            throw SourceFailure::leaving(
                "Nothing leaves the catalogue of $this->name: it names $named of $known videos, and at most a quarter may leave at once. If that is right, ingest it with --allow-leaving.",
            );
        }
        if ($leaving > 0) {
            $this->database->transaction(function (): void {
                $this->database->run(self::RELEASE, [$this->source, $this->reading]);
                $this->database->run(self::LEAVE, [$this->source, $this->reading]);
            });
        }

        return $leaving;
    }

    /**
     * @param list<string> $regions
     * @param string $before as in $this->regions
     */
    private function replaceRegions(string $id, array $regions, string $before): void
    {
        $this->saveCatalogue->bindValue(2, $id, SQLITE3_TEXT);
        foreach ($regions as $region) {
            $this->saveCatalogue->bindValue(1, $region, SQLITE3_TEXT);
            $this->saveCatalogue->execute();
        }
        foreach (array_filter(explode(',', $before)) as $pair) {
            [$region, $source] = [substr($pair, 0, 2), (int) substr($pair, 2)];
            if (in_array($region, $regions, true) ? $source === 0 : $source !== 0) {
                $this->database->run(self::LEAVE_CATALOGUE, [$region, $id, $source]);
            } elseif ($source === 0) {
                $this->regions[$id] .= "$pair,";
            }
        }
    }

    /** @return bool whether that is what the source says, now: no newer line about another region does */
    private function restrict(Observation|Announcement $line, int $saidAt): bool
    {
        if (!self::mayRestrict($line)) {
            return true;
        }
        $isChange = new Restrictions($this->database)->say(
            $line->videoId,
            $this->source,
            $saidAt,
            $line->restrictions,
            $line->unset,
        );
        if ($isChange === true) {
            // In another region the source's next line may say the same as its last one there.
            $this->database->run(self::COMPARE_AGAIN, [$line->videoId]);
            $this->restricted["#$line->videoId"] = true;
        }

        return $isChange !== null;
    }

    private static function mayRestrict(Observation|Announcement $line): bool
    {
        return $line->restrictions !== [] || array_intersect(ObservationParser::SAID, $line->unset) !== [];
    }

    private static function key(Observation $observation): string
    {
        return "$observation->region $observation->videoId";
    }

    /** An observation that is not the newest. When there is one of that time already, that one stays. */
    private function addToHistory(Observation $observation): Outcome
    {
        if ($this->insert($observation, null)) {
            return Outcome::Late;
        }
        $views = $this->database->value(self::FIND_VIEWS, [
            $observation->observedAt,
            $observation->region,
            $observation->videoId,
        ]);

        return $views === $observation->views ? Outcome::Unchanged : Outcome::Conflicting;
    }

    private static function saysAnything(Observation $observation): bool
    {
        return $observation->unset !== [] ||
            array_any(
                $observation->description(),
                static fn(int|string|null $value): bool => $value !== null,
            );
    }

    /**
     * A field that is null keeps its stored value, unless it is taken back.
     *
     * @param array<string, string|int|null> $description columns of videos and details
     * @param list<string> $unset columns that are taken back
     * @param ?array<string, int|string|null> $known the video before: those columns and the source that describes it
     * @return array<string, int|string|null> the video from now on
     * @throws RejectedLine when the video is new and a needed field is null
     */
    private function describe(string $id, array $description, array $unset, ?array $known): array
    {
        if ($known !== null && !$this->mayDescribe($known['described_by'])) {
            return $known;
        }
        $new = [];
        $says = $unset !== [];
        foreach ($description as $name => $value) {
            $says = $says || $value !== null;
            $new[$name] = $value ?? (in_array($name, $unset, true) ? null : $known[$name] ?? null);
        }
        $larger = static fn(int|string|null $pictures): ?string => self::ofPictures($pictures)[0] ?? null;
        // One that no line said follows the pictures: those of before may be gone.
        $unsaid = [$larger($known['pictures'] ?? null), self::NO_THUMB_BASE];
        $none = $known === null ? null : self::NO_THUMB_BASE;
        if ($description['thumb_base'] === null && in_array($known['thumb_base'] ?? null, $unsaid, true)) {
            $new['thumb_base'] = $larger($new['pictures']) ?? $none;
        }
        foreach (self::NEEDED_OF_VIDEO as $name) {
            if ($new[$name] === null) {
                throw new RejectedLine(
                    RejectionReason::MissingMetadata,
                    "$name: expected it" .
                        ($name === 'thumb_base' ? ', or pictures,' : '') .
                        ' on the first line about a video',
                );
            }
        }
        $new['described_by'] = $says ? $this->describer() : $known['described_by'] ?? null;
        if ($new !== $known) {
            $this->save($id, $new, $known);
        }
        if ($known !== null && $new['described_by'] !== $known['described_by']) {
            $this->database->run(self::COMPARE_AGAIN, [$id]);
        }

        return $new;
    }

    /**
     * @param array<string, int|string|null> $new
     * @param ?array<string, int|string|null> $known
     */
    private function save(string $id, array $new, ?array $known): void
    {
        $columns = array_diff_key($new, ObservationParser::DETAILS);
        if ($known === null || $columns !== array_diff_key($known, ObservationParser::DETAILS)) {
            $this->database->run(self::SAVE_VIDEO, [...array_values($columns), $id, $this->now]);
            if ($known !== null && $this->category($known) !== $this->category($new)) {
                $this->database->run(self::SAVE_CATEGORY_SINCE, [$this->now, $id]);
            }
        }
        $thumbs = self::thumbs($new);
        if ($thumbs !== ($known === null ? null : self::thumbs($known))) {
            $text = $thumbs === null ? null : (string) json_encode($thumbs, ObservationParser::AS_READ);
            $this->database->run(self::SAVE_THUMBS, [$text, $id]);
        }
        $details = array_intersect_key($new, ObservationParser::DETAILS);
        if (
            $details === array_intersect_key($known ?? ObservationParser::DETAILS, ObservationParser::DETAILS)
        ) {
            return;
        }
        if ($details === ObservationParser::DETAILS) {
            $this->database->run(self::DELETE_DETAILS, [$id]);
        } else {
            $this->database->run(self::SAVE_DETAILS, [$id, ...array_values($details)]);
        }
    }

    /**
     * What a stored category is called now: it may have been joined with others since.
     *
     * @param array<string, int|string|null> $video
     */
    private function category(array $video): int|string|null
    {
        return $this->categories[$video['category'] ?? ''] ?? $video['category'];
    }

    /**
     * @param array<string, int|string|null> $video
     * @return ?list<string> the addresses of the two that lists show, the larger one first; null where they follow from `thumb_base`
     */
    private static function thumbs(array $video): ?array
    {
        $none = $video['thumb_base'] === self::NO_THUMB_BASE ? [self::NO_PICTURE, self::NO_PICTURE] : null;

        return self::ofPictures($video['pictures']) ?? $none;
    }

    /** @return ?list<string> as thumbs(); null without pictures */
    private static function ofPictures(int|string|null $pictures): ?array
    {
        if ($pictures === null) {
            return null;
        }
        /** @var non-empty-list<array{url: string, width: int, height: int}> $byWidth */
        $byWidth = json_decode((string) $pictures, true, flags: JSON_THROW_ON_ERROR);
        usort($byWidth, static fn(array $one, array $other): int => $one['width'] <=> $other['width']);
        $atLeast = static fn(int $width): array => array_find(
            $byWidth,
            static fn(array $picture): bool => $picture['width'] >= $width,
        ) ?? end($byWidth);

        return array_map(static fn(int $width): string => $atLeast($width)['url'], self::THUMB_WIDTHS);
    }

    /** What videos.described_by says of this source. */
    private function describer(): ?int
    {
        return $this->source === 0 ? null : $this->source;
    }

    /** @param int|string|null $describedBy the source that described the video last */
    private function mayDescribe(int|string|null $describedBy): bool
    {
        return $describedBy === null ||
            $describedBy === $this->source ||
            ($this->mayDescribe[(int) $describedBy] ??= $this->goesBefore((int) $describedBy));
    }

    /** Whether this source describes a video rather than another one does. */
    private function goesBefore(int $other): bool
    {
        $row = $this->others[$other] ?? null;
        $wasHeard =
            $row !== null &&
            $row['heard_at'] >= $this->now - self::SILENT_SECONDS &&
            $row['heard_at'] <= $this->now + SystemClock::TOLERANCE_SECONDS;

        return !$wasHeard || $this->place((string) $this->name) < $this->place($row['name']);
    }

    private function place(string $name): int
    {
        $place = $name === self::BY_HAND ? -1 : array_search($name, $this->order, true);

        return $place === false ? PHP_INT_MAX : $place;
    }

    /**
     * @param ?int $previousObservedAt of the video's observation before this one; null for its first and for a late one
     * @return bool false when there is one of that time already
     */
    private function insert(Observation $observation, ?int $previousObservedAt): bool
    {
        $statement = $this->addObservation;
        $statement->bindValue(1, $observation->observedAt);
        $statement->bindValue(2, $observation->region, SQLITE3_TEXT);
        $statement->bindValue(3, $observation->videoId, SQLITE3_TEXT);
        $statement->bindValue(4, $observation->views);
        $statement->bindValue(5, $observation->likes);
        $statement->bindValue(6, $observation->comments);
        $statement->bindValue(7, $previousObservedAt);
        $statement->execute();

        return $this->database->connection->changes() === 1;
    }

    private function saveVelocity(Observation $observation, Velocity $velocity, int $descriptionHash): void
    {
        $statement = $this->saveVelocity;
        $statement->bindValue(1, $observation->videoId, SQLITE3_TEXT);
        $statement->bindValue(2, $observation->region, SQLITE3_TEXT);
        $statement->bindValue(3, $velocity->firstObservedAt);
        $statement->bindValue(4, $velocity->lastObservedAt);
        $statement->bindValue(5, $velocity->observationCount);
        $statement->bindValue(6, $velocity->views);
        $statement->bindValue(7, $velocity->viewsPerHour);
        $statement->bindValue(8, $velocity->ratedAt);
        $statement->bindValue(9, $velocity->previousViewsPerHour);
        $statement->bindValue(10, $velocity->levels);
        $statement->bindValue(11, $descriptionHash);
        $statement->bindValue(12, $this->now);
        $statement->execute();
    }
}

/** What storing a valid line did. */
enum Outcome: string
{
    /** New, and the newest of its video in its region. */
    case Accepted = 'accepted';
    /** Stored before. */
    case Unchanged = 'unchanged';
    /** New, but older than the newest one: in the history, not in the forecast. */
    case Late = 'late';
    /** There is another view count of the same time, which stays: a ranking may have used it. */
    case Conflicting = 'conflicting';
    /** The line took a video or a channel down. */
    case Removed = 'removed';
    /** The line took such a line of its source back. */
    case Allowed = 'allowed';
    /** The line said what a video is, without views, or that the catalogue is complete. */
    case Announced = 'announced';
    /** The line is about regions that other writers rank. */
    case OtherRegion = 'other_region';
}
