<?php

declare(strict_types=1);

namespace TrendVault\Writer\Ingest;

use TrendVault\Writer\Database\Database;
use TrendVault\Writer\Observations\Announcement;
use TrendVault\Writer\Observations\RejectedLine;
use TrendVault\Writer\Observations\RejectionReason;

/** Stores what a video is, and where the catalogue says that it may be listed. The caller holds the transaction. */
final readonly class VideoStore
{
    private const array NEEDED = ['title', 'channel', 'thumb_base'];
    private const string FIND = <<<'SQL'
    SELECT title, channel, thumb_base, category, language, published_at, duration_seconds, url FROM videos WHERE id = ?
    SQL;
    private const string SAVE = <<<'SQL'
    INSERT INTO videos (id, title, channel, thumb_base, category, language, published_at, duration_seconds, url, first_seen_at)
    VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
    ON CONFLICT (id) DO UPDATE SET title = excluded.title, channel = excluded.channel, thumb_base = excluded.thumb_base,
      category = excluded.category, language = excluded.language, published_at = excluded.published_at,
      duration_seconds = excluded.duration_seconds, url = excluded.url
    SQL;
    private const string LIST = <<<'SQL'
    INSERT INTO catalogue (region, video_id, announced_at) VALUES (?, ?, ?)
    ON CONFLICT DO UPDATE SET announced_at = max(announced_at, excluded.announced_at)
    SQL;

    /** @param int $now UTC seconds, stored as first_seen_at of a new video */
    public function __construct(private Database $database, private int $now) {}

    /** @throws RejectedLine when the video is new and the line does not describe it */
    public function announce(Announcement $announcement): void
    {
        $this->save($announcement->videoId, $announcement->description);
        foreach ($announcement->regions as $region) {
            $this->database->run(self::LIST, [$region, $announcement->videoId, $this->now]);
        }
    }

    /**
     * A field that is null keeps its stored value.
     *
     * @param array<string, string|int|null> $description all columns of FIND, in their order
     * @return ?int when the video was published, in UTC seconds; null when that is not known
     * @throws RejectedLine when the video is new and a needed field is null
     */
    public function save(string $id, array $description): ?int
    {
        $known = $this->database->rows(self::FIND, [$id])[0] ?? null;
        $new = [];
        foreach ($description as $name => $value) {
            $new[$name] = $value ?? ($known[$name] ?? null);
        }
        foreach (self::NEEDED as $name) {
            if ($new[$name] === null) {
                throw new RejectedLine(
                    RejectionReason::MissingMetadata,
                    "$name: expected it on the first line about a video",
                );
            }
        }
        if ($new !== $known) {
            $this->database->run(self::SAVE, [$id, ...array_values($new), $this->now]);
        }

        return $new['published_at'];
    }
}
