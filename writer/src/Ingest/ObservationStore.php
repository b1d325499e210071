<?php

declare(strict_types=1);

namespace TrendVault\Writer\Ingest;

use SQLite3Stmt;
use TrendVault\Writer\Database\Database;
use TrendVault\Writer\Observations\Announcement;
use TrendVault\Writer\Observations\Observation;
use TrendVault\Writer\Observations\RejectedLine;
use TrendVault\Writer\Observations\RejectionReason;
use TrendVault\Writer\Ranking\Velocity;
use TrendVault\Writer\Ranking\VelocityModel;

/**
 * Stores one observation: its video when that is new or has changed, the history, the velocity. Or one announcement: the
 * video, and where the catalogue says that it may be listed.
 * A run does this once for each line, so it uses prepared statements directly; the caller holds the transaction.
 */
final class ObservationStore
{
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
    INSERT INTO velocity (video_id, region, first_observed_at, last_observed_at, observation_count, views, views_per_hour, rated_at, previous_views_per_hour, levels, description_hash)
    VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
    ON CONFLICT DO UPDATE SET last_observed_at = excluded.last_observed_at, observation_count = excluded.observation_count,
      views = excluded.views, views_per_hour = excluded.views_per_hour, rated_at = excluded.rated_at, previous_views_per_hour = excluded.previous_views_per_hour,
      levels = excluded.levels, description_hash = excluded.description_hash
    SQL;

    private const array NEEDED_OF_VIDEO = ['title', 'channel', 'thumb_base'];
    private const string SAVE_CATALOGUE = <<<'SQL'
    INSERT INTO catalogue (region, video_id, announced_at) VALUES (?, ?, ?)
    ON CONFLICT DO UPDATE SET announced_at = max(announced_at, excluded.announced_at)
    SQL;

    private readonly SQLite3Stmt $addObservation;
    private readonly SQLite3Stmt $saveVelocity;
    /** @var array<string, ?Velocity> by region and video of the batch; null for a video that is new in its region */
    private array $velocities = [];
    /** @var array<string, int> of the last line about each of these videos */
    private array $descriptionHashes = [];

    /** @param int $now UTC seconds, stored as first_seen_at of a new video */
    public function __construct(private readonly Database $database, private readonly int $now)
    {
        $this->addObservation = $database->prepare(self::ADD_OBSERVATION);
        $this->saveVelocity = $database->prepare(self::SAVE_VELOCITY);
    }

    /**
     * Looks up the velocities of all videos of a batch at once: line by line it would be a third of the work.
     *
     * @param array<Observation> $observations
     */
    public function prepareFor(array $observations): void
    {
        $this->velocities = $this->descriptionHashes = [];
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
        if ($before !== null && $observation->observedAt <= $before->lastObservedAt) {
            return $this->addToHistory($observation);
        }
        $descriptionHash = $observation->descriptionHash();
        $publishedAt =
            $descriptionHash === ($this->descriptionHashes[$key] ?? null)
                ? null
                : $this->saveVideo($observation->videoId, $observation->description());
        $this->insert($observation, $before?->lastObservedAt);
        $velocity =
            $before === null
                ? VelocityModel::first($observation->observedAt, $observation->views, $publishedAt)
                : VelocityModel::next($before, $observation->observedAt, $observation->views);
        $this->saveVelocity($observation, $velocity, $descriptionHash);
        $this->velocities[$key] = $velocity;
        $this->descriptionHashes[$key] = $descriptionHash;

        return Outcome::Accepted;
    }

    /** @throws RejectedLine when the video is new and the line does not describe it */
    public function announce(Announcement $announcement): Outcome
    {
        $this->saveVideo($announcement->videoId, $announcement->description);
        foreach ($announcement->regions as $region) {
            $this->database->run(self::SAVE_CATALOGUE, [$region, $announcement->videoId, $this->now]);
        }

        return Outcome::Announced;
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

    /**
     * A field that is null keeps its stored value.
     *
     * @param array<string, string|int|null> $description columns of videos
     * @return ?int when the video was published, in UTC seconds; null when that is not known
     * @throws RejectedLine when the video is new and a needed field is null
     */
    private function saveVideo(string $id, array $description): ?int
    {
        $columns = array_keys($description);
        $listed = implode(', ', $columns);
        /** @var ?array<string, int|string|null> $known */
        $known = $this->database->row("SELECT $listed FROM videos WHERE id = ?", [$id]);
        $new = [];
        foreach ($description as $name => $value) {
            $new[$name] = $value ?? ($known[$name] ?? null);
        }
        foreach (self::NEEDED_OF_VIDEO as $name) {
            if ($new[$name] === null) {
                throw new RejectedLine(
                    RejectionReason::MissingMetadata,
                    "$name: expected it on the first line about a video",
                );
            }
        }
        if ($new !== $known) {
            $marks = implode(', ', array_fill(0, count($columns) + 2, '?'));
            $changes = implode(', ', array_map(fn(string $name) => "$name = excluded.$name", $columns));
            $this->database->run(
                "INSERT INTO videos (id, $listed, first_seen_at) VALUES ($marks) ON CONFLICT (id) DO UPDATE SET $changes",
                [$id, ...array_values($new), $this->now],
            );
        }

        $publishedAt = $new['published_at'] ?? null;

        return is_int($publishedAt) ? $publishedAt : null;
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
    /** The line said what a video is, without views. */
    case Announced = 'announced';
    /** The line is about regions that other writers rank. */
    case OtherRegion = 'other_region';
}
