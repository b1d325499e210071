<?php

declare(strict_types=1);

namespace TrendVault\Writer\Database;

/** What the record of runs says about the clock, so that one run under a wrong clock deletes nothing. */
final readonly class ClockRecord
{
    private const int DAY_SECONDS = 86_400;
    private const string RUN_BETWEEN = 'SELECT 1 FROM runs WHERE started_at BETWEEN ? AND ? ORDER BY id DESC LIMIT 1';

    public function __construct(private Database $database) {}

    /**
     * Whether a run was recorded a day ago (one to two days) by the same clock. It was not right after a jump of more
     * than two days, nor after an outage that was as long: both are over when the clock has run on for a day.
     *
     * @param int $now UTC seconds
     */
    public function isSteady(int $now): bool
    {
        $found = $this->database->value(self::RUN_BETWEEN, [
            $now - 2 * self::DAY_SECONDS,
            $now - self::DAY_SECONDS,
        ]);

        return $found !== null;
    }
}
