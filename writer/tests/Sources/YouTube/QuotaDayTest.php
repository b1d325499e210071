<?php

declare(strict_types=1);

namespace TrendVault\Writer\Tests\Sources\YouTube;

use DateTimeImmutable;
use DateTimeZone;
use PHPUnit\Framework\Attributes\Test;
use PHPUnit\Framework\TestCase;
use TrendVault\Writer\Sources\YouTube\QuotaRecord;
use TrendVault\Writer\Tests\Support\Draws;
use TrendVault\Writer\Tests\Support\FixedClock;
use TrendVault\Writer\Tests\Support\MigratedDatabase;

final class QuotaDayTest extends TestCase
{
    private const int JANUARY = 1_767_225_600;
    private const int TEN_YEARS = 10 * 366 * 86_400;

    #[Test]
    public function a_day_is_from_midnight_to_midnight_pacific_time_also_where_summer_time_begins_and_ends(): void
    {
        $random = Draws::randomizer();
        $pacific = new DateTimeZone('America/Los_Angeles');
        for ($draw = 0; $draw < 1000; $draw++) {
            $now = self::JANUARY + $random->getInt(0, self::TEN_YEARS);
            [$beganAt, $endsAt] = QuotaRecord::day($now);

            self::assertLessThanOrEqual($now, $beganAt, Draws::hint());
            self::assertGreaterThan($now, $endsAt, Draws::hint());
            foreach ([$beganAt, $endsAt] as $midnight) {
                self::assertSame(
                    '00:00:00',
                    new DateTimeImmutable("@$midnight")->setTimezone($pacific)->format('H:i:s'),
                );
            }
            self::assertSame($beganAt, QuotaRecord::day($endsAt - 1)[0], Draws::hint());
        }
    }

    #[Test]
    public function each_quota_counts_alone_and_begins_anew_with_the_day(): void
    {
        $database = MigratedDatabase::inMemory();
        $clock = new FixedClock();
        $record = new QuotaRecord($database, $clock);
        $record->add(QuotaRecord::CHARTS, 3);
        $record->add(QuotaRecord::VIEWS, 1);
        $record->add(QuotaRecord::VIEWS, 4);
        [, $end] = QuotaRecord::day($clock->now);

        self::assertSame(['charts' => 3, 'views' => 5], QuotaRecord::today($database, $end - 1));
        self::assertSame(['charts' => 0, 'views' => 0], QuotaRecord::today($database, $end));
    }
}
