<?php

declare(strict_types=1);

namespace TrendVault\Writer\Database;

use SQLite3Exception;
use Psr\Clock\ClockInterface;

/** A row of the table runs: one command, for `writer status`. */
final readonly class Run
{
    private function __construct(
        private Database $database,
        private ClockInterface $clock,
        public int $id,
        public int $startedAt,
    ) {}

    /** Adds the row, without an end and an exit code. */
    public static function start(Database $database, string $command, ClockInterface $clock): self
    {
        $startedAt = $clock->now()->getTimestamp();
        $database->run('INSERT INTO runs (command, started_at) VALUES (?, ?)', [$command, $startedAt]);

        return new self($database, $clock, $database->connection->lastInsertRowID(), $startedAt);
    }

    /** @param ?string $error the message of the failure */
    public function finish(int $exitCode, ?string $error): void
    {
        $this->database->run('UPDATE runs SET finished_at = ?, exit_code = ?, error = ? WHERE id = ?', [
            $this->clock->now()->getTimestamp(),
            $exitCode,
            $error,
            $this->id,
        ]);
    }

    /** For a run that failed. When the database itself failed, the row stays unfinished, as after a kill. */
    public function tryToFinish(int $exitCode, string $error): void
    {
        try {
            $this->finish($exitCode, $error);
        } catch (SQLite3Exception) {
        }
    }
}
