<?php

declare(strict_types=1);

namespace TrendVault\Writer\Ingest;

use SQLite3Stmt;
use TrendVault\Writer\Database\Database;
use TrendVault\Writer\Observations\Observation;
use TrendVault\Writer\Observations\RejectedLine;
use TrendVault\Writer\Observations\RejectionReason;
use TrendVault\Writer\Ranking\Velocity;
use TrendVault\Writer\Ranking\VelocityModel;

/**
 * Stores one observation: its video when that is new or has changed, the history, the running state.
 * This is what a run does once a line, so it works on prepared statements without a layer between;
 * the caller holds the transaction.
 */
final class ObservationStore
{
    /** The parameter is a JSON array of market and video, as in "GB dQw4w9WgXcQ". */
    private const string FIND = <<<'SQL'
        SELECT key.value, v.id,
               v.title, v.channel, v.thumb_base, v.category, v.language, v.published_at, v.duration_seconds,
               y.first_observed_at, y.last_observed_at, y.observation_count, y.views, y.views_per_hour, y.rated_at, y.previous_views_per_hour
        FROM json_each(?1) AS key
        JOIN videos AS v ON v.id = substr(key.value, 4)
        LEFT JOIN velocity AS y ON y.video_id = v.id AND y.region = substr(key.value, 1, 2)
        SQL;
    private const string SAVE_VIDEO = <<<'SQL'
        INSERT INTO videos (id, title, channel, thumb_base, category, language, published_at, duration_seconds, first_seen_at)
        VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)
        ON CONFLICT (id) DO UPDATE SET title = excluded.title, channel = excluded.channel, thumb_base = excluded.thumb_base,
          category = excluded.category, language = excluded.language, published_at = excluded.published_at,
          duration_seconds = excluded.duration_seconds
        SQL;
    private const string ADD_OBSERVATION = <<<'SQL'
        INSERT INTO observations (observed_at, region, video_id, views, likes, comments, previous_observed_at)
        VALUES (?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING
        SQL;
    private const string FIND_VIEWS = 'SELECT views FROM observations WHERE observed_at = ? AND region = ? AND video_id = ?';
    private const string SAVE_VELOCITY = <<<'SQL'
        INSERT INTO velocity (video_id, region, first_observed_at, last_observed_at, observation_count, views, views_per_hour, rated_at, previous_views_per_hour)
        VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)
        ON CONFLICT DO UPDATE SET last_observed_at = excluded.last_observed_at, observation_count = excluded.observation_count,
          views = excluded.views, views_per_hour = excluded.views_per_hour, rated_at = excluded.rated_at, previous_views_per_hour = excluded.previous_views_per_hour
        SQL;

    /** Of the columns that SAVE_VIDEO sets. */
    private const int PUBLISHED_AT = 5;

    private readonly SQLite3Stmt $saveVideo;
    private readonly SQLite3Stmt $addObservation;
    private readonly SQLite3Stmt $saveVelocity;
    /** @var array<string, list<mixed>> of the batch's videos, the columns that SAVE_VIDEO sets, by id */
    private array $videos = [];
    /** @var array<string, ?Velocity> of the batch, by market and video */
    private array $velocities = [];

    /** @param int $now UTC seconds, when a new video is first seen */
    public function __construct(private readonly Database $database, private readonly int $now)
    {
        $this->saveVideo = $database->prepare(self::SAVE_VIDEO);
        $this->addObservation = $database->prepare(self::ADD_OBSERVATION);
        $this->saveVelocity = $database->prepare(self::SAVE_VELOCITY);
    }

    /**
     * Looks up what is known of a batch, which is a third of the work when done line by line.
     *
     * @param array<Observation> $observations
     */
    public function prepareFor(array $observations): void
    {
        [$this->videos, $this->velocities] = [[], []];
        foreach ($observations as $observation) {
            $this->velocities[self::key($observation)] = null;
        }
        $statement = $this->database->prepare(self::FIND);
        $statement->bindValue(1, json_encode(array_keys($this->velocities), JSON_THROW_ON_ERROR));
        $result = $statement->execute();
        while (($row = $result->fetchArray(SQLITE3_NUM)) !== false) {
            $this->videos[$row[1]] = array_slice($row, 2, 7);
            $this->velocities[$row[0]] = $row[9] === null ? null : new Velocity(...array_slice($row, 9));
        }
        $result->finalize();
    }

    /**
     * @param Observation $observation one of those that were prepared for
     * @throws RejectedLine when a video is new and the line does not describe it
     */
    public function add(Observation $observation): Outcome
    {
        $before = $this->velocities[self::key($observation)];
        if ($before !== null && $observation->observedAt <= $before->lastObservedAt) {
            return $this->addToHistory($observation);
        }
        $this->saveVideo($observation, $this->videos[$observation->videoId] ?? null);
        $this->link($observation, $before?->lastObservedAt);
        $velocity = $before === null
            ? VelocityModel::first($observation->observedAt, $observation->views, $this->videos[$observation->videoId][self::PUBLISHED_AT])
            : VelocityModel::next($before, $observation->observedAt, $observation->views);
        $this->saveVelocity($observation, $velocity);

        return Outcome::Accepted;
    }

    private static function key(Observation $observation): string
    {
        return "$observation->region $observation->videoId";
    }

    /** An observation that is not the newest: the first view count of a time stays. */
    private function addToHistory(Observation $observation): Outcome
    {
        if ($this->link($observation, null)) {
            return Outcome::Late;
        }
        $views = $this->database->value(self::FIND_VIEWS, [$observation->observedAt, $observation->region, $observation->videoId]);

        return $views === $observation->views ? Outcome::Unchanged : Outcome::Conflicting;
    }

    /**
     * A line that leaves a field out says nothing about it: what is known stays.
     *
     * @param ?list<mixed> $known
     * @throws RejectedLine
     */
    private function saveVideo(Observation $observation, ?array $known): void
    {
        $new = [
            $observation->title ?? $known[0] ?? throw self::missingMetadata('title'),
            $observation->channel ?? $known[1] ?? throw self::missingMetadata('channel'),
            $observation->thumbBase ?? $known[2] ?? throw self::missingMetadata('thumb_base'),
            $observation->category ?? $known[3] ?? null,
            $observation->language ?? $known[4] ?? null,
            $observation->publishedAt ?? $known[5] ?? null,
            $observation->durationSeconds ?? $known[6] ?? null,
        ];
        if ($new === $known) {
            return;
        }
        $this->videos[$observation->videoId] = $new;
        $this->saveVideo->bindValue(1, $observation->videoId, SQLITE3_TEXT);
        foreach ($new as $index => $value) {
            $this->saveVideo->bindValue($index + 2, $value);
        }
        $this->saveVideo->bindValue(9, $this->now);
        $this->saveVideo->execute();
    }

    /**
     * @param ?int $previousObservedAt the video's observation before this one; null for its first, and outside the chain
     * @return bool false when there was one of that time
     */
    private function link(Observation $observation, ?int $previousObservedAt): bool
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

    private function saveVelocity(Observation $observation, Velocity $velocity): void
    {
        $this->velocities[self::key($observation)] = $velocity;
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
        $statement->execute();
    }

    private static function missingMetadata(string $field): RejectedLine
    {
        return new RejectedLine(RejectionReason::MissingMetadata, "$field: expected it on the first line about a video");
    }
}
