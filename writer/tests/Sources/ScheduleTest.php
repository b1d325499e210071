<?php

declare(strict_types=1);

namespace TrendVault\Writer\Tests\Sources;

use PHPUnit\Framework\Attributes\Test;
use PHPUnit\Framework\TestCase;
use TrendVault\Writer\Sources\Schedule;
use TrendVault\Writer\Sources\YouTube\ApiError;
use TrendVault\Writer\Sources\YouTube\ApiFailure;

use TrendVault\Writer\Tests\Support\MigratedDatabase;

final class ScheduleTest extends TestCase
{
    private const int INTERVAL = 600;
    private const int NOON = 1_763_640_000;

    private Schedule $schedule;

    protected function setUp(): void
    {
        $this->schedule = new Schedule(MigratedDatabase::inMemory(), 'youtube', self::INTERVAL);
    }

    #[Test]
    public function the_first_run_asks_and_the_next_one_after_the_interval(): void
    {
        self::assertLessThanOrEqual(self::NOON, $this->schedule->dueAt(self::NOON));
        $this->schedule->begin(self::NOON);
        $this->schedule->succeed();

        self::assertSame(self::NOON + self::INTERVAL, $this->schedule->dueAt(self::NOON + 5));
        self::assertNull($this->schedule->pause(self::NOON + 5));
    }

    #[Test]
    public function runs_that_fail_or_die_double_the_wait_up_to_an_hour_until_one_succeeds(): void
    {
        $longest = 60;
        for ($run = 0; $run < 70; $run++) {
            $this->schedule->begin(self::NOON);
            $wait = $this->schedule->dueAt(self::NOON) - self::NOON;
            self::assertGreaterThanOrEqual(intdiv($longest, 2), $wait);
            self::assertLessThanOrEqual($longest, $wait);
            self::assertStringContainsString(
                'before it had an answer',
                $this->schedule->pause(self::NOON)?->reason,
            );
            $longest = min(3600, 2 * $longest);
        }
        $this->schedule->begin(self::NOON);
        $this->schedule->succeed();
        self::assertSame(self::NOON + self::INTERVAL, $this->schedule->dueAt(self::NOON));
    }

    #[Test]
    public function a_quota_that_is_used_up_waits_until_midnight_Pacific_time(): void
    {
        $days = [
            '2025-11-20T12:00:00Z' => '2025-11-21T08:00:00Z',
            '2025-11-20T07:59:00Z' => '2025-11-20T08:00:00Z',
            '2025-07-01T12:00:00Z' => '2025-07-02T07:00:00Z',
            '2025-11-02T07:30:00Z' => '2025-11-03T08:00:00Z', // the day of 25 hours
        ];
        foreach ($days as $now => $midnight) {
            $this->schedule->begin(strtotime($now));
            $wait = self::failure(ApiError::QuotaExceeded)->secondsToWait(self::INTERVAL, strtotime($now));
            $this->schedule->fail('why', $wait, strtotime($now));
            $late = $this->schedule->dueAt(strtotime($now)) - strtotime($midnight);

            self::assertGreaterThanOrEqual(0, $late, $now);
            self::assertLessThanOrEqual(300, $late, $now);
        }
    }

    #[Test]
    public function a_clock_that_was_ahead_does_not_stop_the_requests_for_ever(): void
    {
        $this->schedule->begin(self::NOON + 40 * 86_400);
        $this->schedule->succeed();

        self::assertLessThanOrEqual(self::NOON, $this->schedule->dueAt(self::NOON));
    }

    private static function failure(ApiError $error): ApiFailure
    {
        return new ApiFailure('why', $error);
    }
}
