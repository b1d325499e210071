<?php

declare(strict_types=1);

namespace TrendVault\Writer\Database;

/** The table removals: what may not be shown. */
final readonly class Removals
{
    public const string NO_REASON = 'no reason given';
    public const int MAX_REASON_CHARACTERS = 300;
    /** In place of a source: the editorial file. */
    private const int EDITORS = -1;

    private const string ADD = <<<'SQL'
    INSERT INTO removals (kind, name, reason, removed_at) VALUES (?, ?, ?, ?)
    ON CONFLICT DO UPDATE SET reason = excluded.reason
    SQL;
    /** What an operator or the editorial file took down stays so, with the reason given then. */
    private const string ADD_CLAIMED = <<<'SQL'
    INSERT INTO removals (kind, name, reason, removed_at) VALUES (?, ?, ?, ?)
    ON CONFLICT DO UPDATE SET reason = iif(
      EXISTS (SELECT 1 FROM removal_claims AS c WHERE c.kind = removals.kind AND c.name = removals.name AND c.source = -1),
      reason, excluded.reason
    ) WHERE EXISTS (SELECT 1 FROM removal_claims AS c WHERE c.kind = removals.kind AND c.name = removals.name)
    SQL;
    private const string CLAIM = 'INSERT OR IGNORE INTO removal_claims (kind, name, source) VALUES (?, ?, ?)';
    private const string FORGET_CLAIMS = 'DELETE FROM removal_claims WHERE kind = ? AND name = ?';
    private const string UNDO_UNCLAIMED =
        self::UNDO .
        ' AND NOT EXISTS (SELECT 1 FROM removal_claims AS c WHERE c.kind = removals.kind AND c.name = removals.name)';
    private const string UNDO = 'DELETE FROM removals WHERE kind = ? AND name = ?';
    private const string CLAIMED = 'SELECT kind, name FROM removal_claims WHERE source = ? ORDER BY kind, name';
    private const string NAMES = 'SELECT name FROM removals WHERE kind = ?';
    private const string OPERATORS = <<<'SQL'
    SELECT kind, name, reason FROM removals AS r
    WHERE NOT EXISTS (SELECT 1 FROM removal_claims AS c WHERE c.kind = r.kind AND c.name = r.name) ORDER BY kind, name
    SQL;
    private const string REASON = <<<'SQL'
    SELECT reason FROM removals WHERE (kind, name) IN (VALUES ('video', ?), ('channel', ?)) ORDER BY kind DESC LIMIT 1
    SQL;

    public function __construct(private Database $database) {}

    /**
     * Takes a video or a channel down, known or not. Again, it only replaces the reason.
     *
     * @param int $at UTC seconds
     * @param ?int $source the source that may take it back; null for an operator, whose removal it is from then on
     */
    public function remove(
        RemovalKind $kind,
        string $name,
        string $reason,
        int $at,
        ?int $source = null,
    ): void {
        $changed = $this->database->run($source === null ? self::ADD : self::ADD_CLAIMED, [
            $kind->value,
            $name,
            $reason === '' ? self::NO_REASON : mb_substr($reason, 0, self::MAX_REASON_CHARACTERS),
            $at,
        ]);
        if ($source === null) {
            $this->database->run(self::FORGET_CLAIMS, [$kind->value, $name]);
        } elseif ($changed > 0) {
            $this->database->run(self::CLAIM, [$kind->value, $name, $source]);
        }
    }

    /** @return bool false when the source had not taken it down; another's removal stays */
    public function takeBack(RemovalKind $kind, string $name, int $source): bool
    {
        $isOwn =
            $this->database->run(self::FORGET_CLAIMS . ' AND source = ?', [$kind->value, $name, $source]) > 0;
        if ($isOwn) {
            $this->database->run(self::UNDO_UNCLAIMED, [$kind->value, $name]);
        }

        return $isOwn;
    }

    /**
     * Makes the removals of the editorial file those that it names. What an operator had removed is the file's from then
     * on, if it names it.
     *
     * @param iterable<array{RemovalKind, string, string, ...}> $named kind, name, reason
     * @param int $at UTC seconds
     */
    public function follow(iterable $named, int $at): void
    {
        $gone = [];
        foreach ($this->claimed() as [$kind, $name]) {
            $gone["$kind->value $name"] = [$kind, $name];
        }
        foreach ($named as [$kind, $name, $reason]) {
            $this->database->run(self::ADD, [$kind->value, $name, $reason, $at]);
            $this->database->run(self::CLAIM, [$kind->value, $name, self::EDITORS]);
            unset($gone["$kind->value $name"]);
        }
        foreach ($gone as [$kind, $name]) {
            $this->takeBack($kind, $name, self::EDITORS);
        }
    }

    /** Makes the removals of the editorial file an operator's. */
    public function keepWithoutFile(): void
    {
        foreach ($this->claimed() as [$kind, $name]) {
            $this->database->run(self::FORGET_CLAIMS, [$kind->value, $name]);
        }
    }

    /** @return list<array{RemovalKind, string, string}> kind, name, reason: those of `remove` that the file does not name */
    public function ofOperators(): array
    {
        return array_map(static function (array $row): array {
            /** @var array{kind: string, name: string, reason: string} $row */
            return [RemovalKind::from($row['kind']), $row['name'], $row['reason']];
        }, $this->database->rows(self::OPERATORS));
    }

    /** @return list<array{RemovalKind, string}> by the editorial file */
    private function claimed(): array
    {
        $claimed = [];
        foreach ($this->database->rows(self::CLAIMED, [self::EDITORS]) as $row) {
            /** @var array{kind: string, name: string} $row */
            $claimed[] = [RemovalKind::from($row['kind']), $row['name']];
        }

        return $claimed;
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
