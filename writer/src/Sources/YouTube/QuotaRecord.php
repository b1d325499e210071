<?php

declare(strict_types=1);

namespace TrendVault\Writer\Sources\YouTube;

use Psr\Clock\ClockInterface;
use TrendVault\Writer\Database\Database;

/**
 * What was used of each quota at most: an attempt to send a request counts as a unit, also one that did not get through.
 */
final readonly class QuotaRecord
{
    public const string CHARTS = 'charts';
    public const string VIEWS = 'views';

    private const string ADD = <<<'SQL'
    INSERT INTO youtube_quota (day_began_at, quota, units) VALUES (?, ?, ?)
    ON CONFLICT DO UPDATE SET units = units + excluded.units
    SQL;

    public function __construct(private Database $database, private ClockInterface $clock) {}

    /** @param string $quota CHARTS or VIEWS */
    public function add(string $quota, int $units): void
    {
        $day = QuotaDay::at($this->clock->now()->getTimestamp());
        $this->database->run(self::ADD, [$day->beganAt, $quota, $units]);
    }

    /**
     * @param int $now UTC seconds
     * @return array<string, int> units of the day, by quota
     */
    public static function today(Database $database, int $now): array
    {
        $rows = $database->rows('SELECT quota, units FROM youtube_quota WHERE day_began_at = ?', [
            QuotaDay::at($now)->beganAt,
        ]);

        return [self::CHARTS => 0, self::VIEWS => 0, ...array_column($rows, 'units', 'quota')];
    }
}
