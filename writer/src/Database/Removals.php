<?php

declare(strict_types=1);

namespace TrendVault\Writer\Database;

/** The table removals: what may not be shown. */
final readonly class Removals
{
    public const string NO_REASON = 'no reason given';
    public const int MAX_REASON_CHARACTERS = 300;

    private const string ADD = <<<'SQL'
    INSERT INTO removals (kind, name, reason, removed_at) VALUES (?, ?, ?, ?)
    ON CONFLICT DO UPDATE SET reason = excluded.reason
    SQL;
    private const string UNDO = 'DELETE FROM removals WHERE kind = ? AND name = ?';
    private const string NAMES = 'SELECT name FROM removals WHERE kind = ?';
    private const string REASON = <<<'SQL'
    SELECT reason FROM removals WHERE (kind, name) IN (VALUES ('video', ?), ('channel', ?)) ORDER BY kind DESC LIMIT 1
    SQL;

    public function __construct(private Database $database) {}

    /**
     * Takes a video or a channel down, known or not. Again, it only replaces the reason.
     *
     * @param int $at UTC seconds
     */
    public function remove(RemovalKind $kind, string $name, string $reason, int $at): void
    {
        $this->database->run(self::ADD, [
            $kind->value,
            $name,
            $reason === '' ? self::NO_REASON : mb_substr($reason, 0, self::MAX_REASON_CHARACTERS),
            $at,
        ]);
    }

    /** @return bool false when it was not taken down */
    public function allow(RemovalKind $kind, string $name): bool
    {
        return $this->database->run(self::UNDO, [$kind->value, $name]) === 1;
    }

    /** @return array<int|string, int> with names as keys */
    public function names(RemovalKind $kind): array
    {
        return array_fill_keys($this->database->texts(self::NAMES, [$kind->value]), 1);
    }

    /** Why a video is not shown, by itself or because of its channel; null when it is. */
    public function reasonFor(string $videoId, string $channel): ?string
    {
        return $this->database->text(self::REASON, [$videoId, $channel]);
    }

    public function count(RemovalKind $kind): int
    {
        return $this->database->number('SELECT count(*) FROM removals WHERE kind = ?', [$kind->value]) ?? 0;
    }
}

/** What was taken down: one video by its id, or all videos of a channel by its name. */
enum RemovalKind: string
{
    case Video = 'video';
    case Channel = 'channel';
}
