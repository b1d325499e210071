<?php

declare(strict_types=1);

namespace TrendVault\Writer\Database;

use Psr\Clock\ClockInterface;
use SQLite3Exception;

/** A row of the table runs: one command, for `writer status`. */
final readonly class Run
{
    private const int DAY_SECONDS = 86_400;
    private const string RUN_BETWEEN = 'SELECT 1 FROM runs WHERE started_at BETWEEN ? AND ? ORDER BY id DESC LIMIT 1';

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

    /**
     * Whether the record of runs says that the clock is right, so that one run under a wrong clock deletes nothing: a run
     * was recorded a day ago (one to two days). It was not right after a jump of more than two days, nor after an outage
     * that was as long: both are over when the clock has run on for a day.
     *
     * @param int $now UTC seconds
     */
    public static function isClockSteady(Database $database, int $now): bool
    {
        $found = $database->value(self::RUN_BETWEEN, [
            $now - 2 * self::DAY_SECONDS,
            $now - self::DAY_SECONDS,
        ]);

        return $found !== null;
    }
}
