<?php

declare(strict_types=1);

namespace TrendVault\Writer\Sources;

use Psr\Log\LoggerInterface;
use TrendVault\Writer\Database\Database;
use TrendVault\Writer\Time\Rfc3339;

/**
 * When a platform is asked, over all runs. A run without an answer doubles the time to the next one, up to an hour, of
 * which the half is drawn at random.
 */
final readonly class Schedule
{
    private const string BEGIN = <<<'SQL'
    INSERT INTO source_schedules (source, asked_at, failed_runs, retry_at, failure) VALUES (?, ?, ?, ?, ?)
    ON CONFLICT DO UPDATE SET asked_at = excluded.asked_at, failed_runs = excluded.failed_runs, retry_at = excluded.retry_at,
      failure = excluded.failure
    SQL;
    private const string PAUSE = <<<'SQL'
    UPDATE source_schedules SET retry_at = max(retry_at, ?), failure = ? WHERE source = ?
    SQL;

    public const int FIRST_DELAY_SECONDS = 60;
    /** The longest delay of what is asked in each run, so that it is asked soon when it is well again. */
    public const int LONGEST_DELAY_OF_EACH_RUN = 600;

    private const int LONGEST_DELAY_SECONDS = 3600;
    private const int MOST_DOUBLINGS = 6;
    /** A day, and an hour for the end of summer time. What is further away is of a clock that was wrong. */
    private const int LONGEST_PAUSE_SECONDS = 25 * 3600;
    private const string NO_END = 'The last run ended before it had an answer.';

    /**
     * @param string $source whose times these are: its kind, or kind:HOST
     * @param int $intervalSeconds between two runs that ask, when nothing fails
     */
    public function __construct(
        private Database $database,
        private string $source,
        public int $intervalSeconds,
        private int $longestDelaySeconds = self::LONGEST_DELAY_SECONDS,
    ) {}

    /** How long nothing is asked after so many runs in a row without an answer: doubles, and the half of it is drawn at random. */
    public static function delaySeconds(int $failedRuns, int $longest): int
    {
        $delay = min($longest, self::FIRST_DELAY_SECONDS * 2 ** min($failedRuns - 1, self::MOST_DOUBLINGS));

        return random_int(intdiv($delay, 2), $delay);
    }

    /** UTC seconds; in the past when it may be asked now. */
    public function dueAt(int $now): int
    {
        $state = $this->state();
        $retryAt = $this->retryAt($now);

        return $state === null || $state['asked_at'] > $now || $state['failed_runs'] > 0
            ? $retryAt
            : max($retryAt, $state['asked_at'] + $this->intervalSeconds);
    }

    /** As dueAt(), without the interval: for a run that goes on where the last one ended. */
    public function retryAt(int $now): int
    {
        $state = $this->state();

        return $state === null || $state['asked_at'] > $now
            ? 0
            : min($state['retry_at'], $state['asked_at'] + self::LONGEST_PAUSE_SECONDS);
    }

    /** Null when the source is not waited for longer than the interval demands. */
    public function pause(int $now): ?Pause
    {
        $state = $this->state();
        $dueAt = $this->dueAt($now);
        $isLonger =
            $state !== null &&
            ($state['failed_runs'] > 0 || $state['retry_at'] > $state['asked_at'] + $this->intervalSeconds);

        return $isLonger && $now < $dueAt
            ? new Pause($this->source, $dueAt, $state['failure'] ?? self::NO_END)
            : null;
    }

    /** A run counts as failed until it has an answer, so that one that is killed counts, too. */
    public function begin(int $now): void
    {
        $failedRuns = 1 + ($this->state()['failed_runs'] ?? 0);
        $this->database->run(self::BEGIN, [
            $this->source,
            $now,
            $failedRuns,
            $now + self::delaySeconds($failedRuns, $this->longestDelaySeconds),
            self::NO_END,
        ]);
    }

    /** The run had an answer. */
    public function succeed(): void
    {
        $this->database->run(
            'UPDATE source_schedules SET failed_runs = 0, retry_at = asked_at, failure = NULL WHERE source = ?',
            [$this->source],
        );
    }

    /**
     * Notes why a run failed, and that nothing is asked for so long.
     *
     * @param int $now UTC seconds
     */
    public function fail(string $reason, int $seconds, int $now): void
    {
        $this->database->run(self::PAUSE, [
            $now + min($seconds, self::LONGEST_PAUSE_SECONDS),
            $reason,
            $this->source,
        ]);
    }

    /** UTC seconds of the newest run that asked; 0 before the first. */
    public function askedAt(): int
    {
        return $this->state()['asked_at'] ?? 0;
    }

    /** @return ?array{asked_at: int, failed_runs: int, retry_at: int, failure: ?string} */
    private function state(): ?array
    {
        /** @var ?array{asked_at: int, failed_runs: int, retry_at: int, failure: ?string} $state */
        $state = $this->database->row(
            'SELECT asked_at, failed_runs, retry_at, failure FROM source_schedules WHERE source = ?',
            [$this->source],
        );

        return $state;
    }
}

/** A source is waited for longer than the interval demands. */
final readonly class Pause
{
    public const string WISH = 'The server asks for a pause.';

    /**
     * @param string $source its kind, or kind:HOST
     * @param int $until UTC seconds
     */
    public function __construct(private string $source, public int $until, public string $reason) {}

    /**
     * @param int $now UTC seconds
     * @return list<self> by source
     */
    public static function all(Database $database, int $now): array
    {
        /** @var list<array{source: string, retry_at: int, reason: string}> $rows */
        $rows = $database->rows('SELECT * FROM source_pauses WHERE retry_at > ? ORDER BY source', [$now]);

        return array_map(
            static fn(array $row): self => new self($row['source'], $row['retry_at'], $row['reason']),
            $rows,
        );
    }

    public function log(LoggerInterface $log): void
    {
        $log->info($this->text(), ['event' => 'source_paused', ...$this->facts()]);
    }

    /** @return array{source: string, until: string, reason: string} with the time as RFC 3339 */
    public function facts(): array
    {
        return [
            'source' => $this->source,
            'until' => Rfc3339::format($this->until),
            'reason' => $this->reason,
        ];
    }

    public function text(): string
    {
        return "$this->source is not asked before " . Rfc3339::format($this->until) . ": $this->reason";
    }
}
