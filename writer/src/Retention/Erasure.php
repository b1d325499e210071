<?php

declare(strict_types=1);

namespace TrendVault\Writer\Retention;

use TrendVault\Writer\Database\Database;
use TrendVault\Writer\Database\Erasures;
use TrendVault\Writer\Database\RemovalKind;
use TrendVault\Writer\Database\Removals;

/**
 * Takes all rows about a video, or a channel and its videos, out of the database, and their bytes out of its file. What
 * died in between is carried on with by the same once more.
 */
final class Erasure
{
    private const string VIDEOS_OF_CHANNEL = 'SELECT id FROM videos WHERE channel = ? ORDER BY id';
    private const string NAMING = <<<'SQL'
    SELECT id FROM generations AS g WHERE EXISTS (
      SELECT 1 FROM json_each(?1) AS v JOIN trending AS t ON t.generation = g.id AND t.video_id = v.value
    ) OR EXISTS (
      SELECT 1 FROM explanations AS e, json_each(e.parts) AS p WHERE e.generation = g.id AND p.key IN (SELECT value FROM json_each(?1))
    ) OR EXISTS (
      SELECT 1 FROM explanations AS e, json_each(e.rules) AS r WHERE e.generation = g.id AND r.key IN (SELECT value FROM json_each(?1))
    )
    SQL;
    private const string TABLES_OF_VIDEOS = <<<'SQL'
    SELECT t.name FROM sqlite_schema AS t JOIN pragma_table_info(t.name) AS c WHERE t.type = 'table' AND c.name = 'video_id'
    SQL;
    private const string TEXTS = <<<'SQL'
    SELECT t.name AS "table", c.name AS "column" FROM sqlite_schema AS t JOIN pragma_table_info(t.name) AS c
    WHERE t.type = 'table' AND t.name NOT LIKE 'sqlite_%' AND c.type = 'TEXT'
      AND t.name NOT IN ('schema_migrations', 'regions') -- they are the program's and the operator's
    SQL;
    private const string SNAPSHOTS = 'SELECT published_at, region, window, category, video_ids FROM rank_snapshots';
    private const string SAVE_SNAPSHOT = 'UPDATE rank_snapshots SET video_ids = ? WHERE published_at = ? AND region = ? AND window = ? AND category = ?';
    /** In its place in a list of ids; no id begins so. */
    private const string NOBODY = '.';
    private const int MOST_CHECKPOINTS = 25;

    /** @var list<string> */
    private array $ids;

    public function __construct(
        private readonly Database $database,
        private readonly RemovalKind $kind,
        private readonly string $name,
    ) {
        $this->ids =
            $kind === RemovalKind::Video ? [$name] : $database->texts(self::VIDEOS_OF_CHANNEL, [$name]);
    }

    /**
     * From now on no line brings it back, origins leave it out, and the next generation is without it.
     *
     * @param int $now UTC seconds
     */
    public function begin(int $now): void
    {
        $this->database->transaction(function () use ($now): void {
            $erasures = new Erasures($this->database);
            $erasures->add($this->kind, $this->name, $now);
            foreach ($this->ids as $id) {
                $erasures->add(RemovalKind::Video, $id, $now);
            }
            new Removals($this->database)->remove($this->kind, $this->name, '', $now);
        });
    }

    /**
     * Deletes the rows and the generations that name it, whose place a newer one has taken.
     *
     * @return array{videos: int, generations: int}
     */
    public function deleteRows(): array
    {
        // What is deleted is overwritten with zeros (https://sqlite.org/pragma.html#pragma_secure_delete).
        $this->database->execute('PRAGMA secure_delete = ON');
        $ids = json_encode($this->ids, JSON_THROW_ON_ERROR);
        $generations = $this->database->integers(self::NAMING, [$ids]);
        new Pruning($this->database)->drop($generations);
        $videos = 0;
        $this->database->transaction(function () use ($ids, &$videos): void {
            $this->forgetRanks();
            $which = 'IN (SELECT value FROM json_each(?))';
            foreach ($this->database->texts(self::TABLES_OF_VIDEOS) as $table) {
                $this->database->run("DELETE FROM $table WHERE video_id $which", [$ids]);
            }
            $videos = $this->database->run("DELETE FROM videos WHERE id $which", [$ids]);
            $this->database->run("DELETE FROM removals WHERE kind = 'video' AND name $which", [$ids]);
            $this->database->run('DELETE FROM removals WHERE kind = ? AND name = ?', [
                $this->kind->value,
                $this->name,
            ]);
            $this->database->run('DELETE FROM peertube_pages'); // They are packed, and are asked for anew.
            $this->database->run("UPDATE runs SET error = 'erased' WHERE instr(error, ?)", [$this->name]);
        });

        return ['videos' => $videos, 'generations' => count($generations)];
    }

    /**
     * Writes the file anew, since older rows may be in its free pages, and empties the WAL.
     *
     * @return bool false when readers kept the WAL
     */
    public function vacuum(): bool
    {
        $this->database->execute('VACUUM');
        for ($checkpoint = 0; $checkpoint < self::MOST_CHECKPOINTS; $checkpoint++) {
            if ($this->database->truncateWal()) {
                return true;
            }
        }

        return false;
    }

    /** @return list<string> columns that name it all the same, such as videos.title where others speak of it */
    public function found(): array
    {
        $found = [];
        /** @var array{table: string, column: string} $row */
        foreach ($this->database->rows(self::TEXTS) as $row) {
            ['table' => $table, 'column' => $column] = $row;
            $count = $this->database->number("SELECT count(*) FROM $table WHERE instr(\"$column\", ?)", [
                $this->name,
            ]);
            if ($count !== 0) {
                $found[] = "$table.$column ($count)";
            }
        }

        return $found;
    }

    private function forgetRanks(): void
    {
        $erased = array_fill_keys($this->ids, 1);
        /** @var array{published_at: int, region: string, window: string, category: string, video_ids: string} $row */
        foreach ($this->database->rows(self::SNAPSHOTS) as $row) {
            $kept = array_map(
                static fn(string $id): string => isset($erased[$id]) ? self::NOBODY : $id,
                explode(' ', $row['video_ids']),
            );
            $text = implode(' ', $kept);
            if ($text !== $row['video_ids']) {
                $this->database->run(self::SAVE_SNAPSHOT, [
                    $text,
                    $row['published_at'],
                    $row['region'],
                    $row['window'],
                    $row['category'],
                ]);
            }
        }
    }
}
