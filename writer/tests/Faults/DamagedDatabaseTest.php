<?php

declare(strict_types=1);

namespace TrendVault\Writer\Tests\Faults;

use PHPUnit\Framework\Attributes\Test;
use PHPUnit\Framework\TestCase;
use TrendVault\Writer\Database\IntegrityCheck;
use TrendVault\Writer\ExitCode;
use TrendVault\Writer\Tests\Support\FixedClock;
use TrendVault\Writer\Tests\Support\Installation;
use TrendVault\Writer\Tests\Support\MigratedDatabase;
use TrendVault\Writer\Tests\Support\NdjsonLine;

final class DamagedDatabaseTest extends TestCase
{
    private const int PAGE_BYTES = 4096;

    #[Test]
    public function cron_checks_the_file_once_a_day_and_status_says_what_was_found(): void
    {
        $installation = Installation::migrated();
        $lines = array_map(
            static fn(int $line): array => ['id' => "v$line", 'observed_at' => NdjsonLine::ago(9000 - $line)],
            range(1, 3000),
        );
        $installation->run(['ingest', '-'], NdjsonLine::many($lines));
        $installation->run(['cron']);
        $installation->run(['cron']);
        self::assertSame(['whole'], array_column($installation->rows('SELECT result FROM checks'), 'result'));
        self::assertStringContainsString('The database is whole', $installation->run(['check'])->output);

        self::damage($installation);
        $installation->execute('UPDATE checks SET checked_at = checked_at - 86400');
        $cron = $installation->run(['cron']);
        self::assertSame(ExitCode::DatabaseUnavailable, $cron->exitCode, $cron->errors);
        self::assertStringContainsString('is damaged. Restore a backup', $cron->message('database_damaged'));
        $status = json_decode(
            $installation->run(['status', '--json'])->output,
            true,
            flags: JSON_THROW_ON_ERROR,
        );
        self::assertSame('damaged', $status['last_check']['result']);
        self::assertStringContainsString('ago: damaged, ', $installation->run(['status'])->output);
        self::assertSame(ExitCode::DatabaseUnavailable, $installation->run(['check'])->exitCode);
    }

    #[Test]
    public function a_check_that_fails_otherwise_is_no_damage_and_one_of_the_future_is_done_again(): void
    {
        $database = MigratedDatabase::inMemory();
        $check = new IntegrityCheck($database);
        $result = $check->run(['sh', '-c', 'echo no memory; exit 3'], 5, FixedClock::NOON);

        self::assertSame(['unfinished', 'it ended with exit code 3: no memory'], $result);
        self::assertFalse($check->isDue(FixedClock::NOON + 86_399));
        self::assertTrue($check->isDue(FixedClock::NOON + 86_400));
        self::assertTrue($check->isDue(FixedClock::NOON - 1));
    }

    /** Overwrites a page of the history that the next run does not read. */
    private static function damage(Installation $installation): void
    {
        $installation->run(['prune']);
        $page = $installation->value(
            "SELECT pageno FROM dbstat WHERE name = 'observations' AND pagetype = 'leaf' ORDER BY path LIMIT 1 OFFSET 3",
        );
        $file = fopen($installation->database, 'r+');
        fseek($file, ($page - 1) * self::PAGE_BYTES + 8);
        fwrite($file, str_repeat("\xff", 200));
        fclose($file);
    }
}
