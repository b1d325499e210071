<?php

declare(strict_types=1);

namespace TrendVault\Writer\Retention;

use TrendVault\Writer\Database\ClockRecord;
use TrendVault\Writer\Database\Database;

/**
 * The time before which observations are deleted. docs/decisions/0020-retention-by-data-time.md says why there are
 * two: a clock that jumps must not delete, and data that gets old must not stay because nothing new comes.
 */
final readonly class Cutoff
{
    private const int DAY_SECONDS = 86_400;
    private const string NEWEST = 'SELECT max(observed_at) FROM observations WHERE observed_at <= ?';

    public function __construct(private Database $database) {}

    /**
     * The later one of byData() and byClock(); the clock counts while it is steady, see ClockRecord.
     *
     * @param int $now UTC seconds
     * @param bool $trustsClock when an operator says that the clock is right
     * @return ?int UTC seconds; null when nothing is to be deleted
     */
    public function of(int $now, int $keepDays, bool $trustsClock = false): ?int
    {
        $isSteady = $trustsClock || new ClockRecord($this->database)->isSteady($now);

        return max($this->byData($keepDays), $isSteady ? self::byClock($now, $keepDays) : null);
    }

    /** @return int UTC seconds */
    public static function byClock(int $now, int $keepDays): int
    {
        return $now - $keepDays * self::DAY_SECONDS;
    }

    /**
     * Counts days of 24 hours that have observations, back from the newest observation: a jump of the clock by any
     * number of days adds one such day. Each step is a seek in the primary key.
     *
     * @return ?int UTC seconds; null when there are no more than those days
     */
    private function byData(int $keepDays): ?int
    {
        $cutoff = null;
        $newest = $this->database->value(self::NEWEST, [PHP_INT_MAX]);
        for ($day = 0; $day < $keepDays && $newest !== null; $day++) {
            $cutoff = $newest - self::DAY_SECONDS + 1;
            $newest = $this->database->value(self::NEWEST, [$cutoff - 1]);
        }

        return $newest === null ? null : $cutoff;
    }
}
