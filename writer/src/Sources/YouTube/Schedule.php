<?php

declare(strict_types=1);

namespace TrendVault\Writer\Sources\YouTube;

use DateTimeImmutable;
use DateTimeZone;
use TrendVault\Writer\Database\Database;

/**
 * When YouTube is asked, over all runs. A run without an answer doubles the time to the next one, up to an hour, of
 * which the half is drawn at random.
 */
final readonly class Schedule
{
    private const string BEGIN = <<<'SQL'
    INSERT INTO youtube_schedule (id, asked_at, failed_runs, retry_at, failure) VALUES (1, ?, ?, ?, ?)
    ON CONFLICT DO UPDATE SET asked_at = excluded.asked_at, failed_runs = excluded.failed_runs, retry_at = excluded.retry_at,
      failure = excluded.failure
    SQL;
    private const string ASK_REGION = <<<'SQL'
    INSERT INTO youtube_regions (region, asked_at) VALUES (?, ?)
    ON CONFLICT DO UPDATE SET asked_at = excluded.asked_at
    SQL;

    private const int FIRST_DELAY_SECONDS = 60;
    private const int LONGEST_DELAY_SECONDS = 3600;
    private const int MOST_DOUBLINGS = 6;
    /** A day, and an hour for the end of summer time. What is further away is of a clock that was wrong. */
    private const int LONGEST_PAUSE_SECONDS = 25 * 3600;
    private const int QUOTA_SPREAD_SECONDS = 300;
    private const string NO_END = 'The last run ended before it had an answer from YouTube.';

    /** @param int $intervalSeconds between two runs that ask, when nothing fails */
    public function __construct(private Database $database, private int $intervalSeconds) {}

    /** UTC seconds; in the past when it may be asked now. */
    public function dueAt(int $now): int
    {
        $state = $this->state();
        if ($state === null || $state['asked_at'] > $now) {
            return 0;
        }
        $retryAt = min($state['retry_at'], $state['asked_at'] + self::LONGEST_PAUSE_SECONDS);

        return $state['failed_runs'] > 0
            ? $retryAt
            : max($retryAt, $state['asked_at'] + $this->intervalSeconds);
    }

    /** Null when YouTube is not waited for longer than the interval demands. */
    public function pause(int $now): ?Pause
    {
        $state = $this->state();
        $dueAt = $this->dueAt($now);
        $isLonger =
            $state !== null &&
            ($state['failed_runs'] > 0 || $state['retry_at'] > $state['asked_at'] + $this->intervalSeconds);

        return $isLonger && $now < $dueAt ? new Pause($dueAt, $state['failure'] ?? self::NO_END) : null;
    }

    /** A run counts as failed until it has an answer, so that one that is killed counts, too. */
    public function begin(int $now): void
    {
        $failedRuns = 1 + ($this->state()['failed_runs'] ?? 0);
        $delay = min(
            self::LONGEST_DELAY_SECONDS,
            self::FIRST_DELAY_SECONDS * 2 ** min($failedRuns - 1, self::MOST_DOUBLINGS),
        );
        $this->database->run(self::BEGIN, [
            $now,
            $failedRuns,
            $now + random_int(intdiv($delay, 2), $delay),
            self::NO_END,
        ]);
    }

    /** The run had an answer. */
    public function succeed(): void
    {
        $this->database->run(
            'UPDATE youtube_schedule SET failed_runs = 0, retry_at = asked_at, failure = NULL WHERE id = 1',
        );
    }

    /**
     * @param ApiFailure $failure that says itself how long to wait, or means it
     * @param int $now UTC seconds
     */
    public function pauseAfter(ApiFailure $failure, int $now): void
    {
        $seconds = match ($failure->error) {
            ApiError::QuotaExceeded => self::secondsToQuota($now),
            ApiError::KeyRefused => max($this->intervalSeconds, self::FIRST_DELAY_SECONDS),
            default => min($failure->retryAfterSeconds, self::LONGEST_PAUSE_SECONDS),
        };
        $this->database->run(
            'UPDATE youtube_schedule SET retry_at = max(retry_at, ?), failure = ? WHERE id = 1',
            [$now + $seconds, $failure->getMessage()],
        );
    }

    public function askRegion(string $region, int $now): void
    {
        $this->database->run(self::ASK_REGION, [$region, $now]);
    }

    /**
     * @param list<string> $regions
     * @return list<string> the one that waited longest first
     */
    public function sorted(array $regions): array
    {
        $askedAt = array_column(
            $this->database->rows('SELECT region, asked_at FROM youtube_regions'),
            'asked_at',
            'region',
        );
        usort($regions, static fn(string $a, string $b): int => ($askedAt[$a] ?? 0) <=> ($askedAt[$b] ?? 0));

        return $regions;
    }

    /** Until midnight Pacific time, when the quota is renewed, and a little longer: others wait for it, too. */
    private static function secondsToQuota(int $now): int
    {
        $pacific = new DateTimeImmutable("@$now")->setTimezone(new DateTimeZone('America/Los_Angeles'));

        return $pacific->modify('tomorrow')->getTimestamp() -
            $now +
            random_int(0, self::QUOTA_SPREAD_SECONDS);
    }

    /** @return ?array{asked_at: int, failed_runs: int, retry_at: int, failure: ?string} */
    private function state(): ?array
    {
        return $this->database->rows(
            'SELECT asked_at, failed_runs, retry_at, failure FROM youtube_schedule',
        )[0] ?? null;
    }
}
