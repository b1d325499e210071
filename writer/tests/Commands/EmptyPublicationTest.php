<?php

declare(strict_types=1);

namespace TrendVault\Writer\Tests\Commands;

use PHPUnit\Framework\Attributes\Test;
use PHPUnit\Framework\TestCase;
use TrendVault\Writer\ExitCode;
use TrendVault\Writer\Tests\Support\Installation;
use TrendVault\Writer\Tests\Support\NdjsonLine;

final class EmptyPublicationTest extends TestCase
{
    private const int DAY_SECONDS = 86_400;

    #[Test]
    public function an_empty_list_replaces_a_filled_one_only_when_somebody_asks_for_it(): void
    {
        $installation = self::withLists(['GB' => 60, 'DE' => 60]);
        $installation->execute("DELETE FROM velocity WHERE region = 'DE'");

        foreach (['rank', 'cron'] as $command) {
            $result = $installation->run([$command]);
            self::assertSame(ExitCode::EmptyPublication, $result->exitCode, $command);
            self::assertStringContainsString('the lists of DE would be empty', $result->message());
        }
        self::assertSame(1, $installation->value('SELECT max(id) FROM generations'));

        self::assertSame(ExitCode::Ok, $installation->run(['rank', '--allow-empty'])->exitCode);
        self::assertSame(ExitCode::Ok, $installation->run(['rank'])->exitCode); // It is empty now.
        self::assertSame(
            0,
            $installation->value(
                'SELECT video_count FROM generation_regions WHERE generation = 3 AND region = \'DE\'',
            ),
        );
    }

    #[Test]
    public function a_run_that_publishes_nothing_deletes_what_is_too_old_all_the_same(): void
    {
        $installation = self::withLists(['GB' => 60, 'DE' => 40 * self::DAY_SECONDS]);
        self::recordRunOfYesterday($installation);
        $installation->execute("DELETE FROM velocity WHERE region = 'GB'");

        self::assertSame(ExitCode::EmptyPublication, $installation->run(['cron'])->exitCode);
        self::assertSame(
            ['GB'],
            array_column($installation->rows('SELECT DISTINCT region FROM observations'), 'region'),
        );
    }

    #[Test]
    public function a_region_that_lost_its_list_by_age_does_not_keep_the_others_from_being_published(): void
    {
        $installation = self::withLists(['GB' => 60, 'DE' => 40 * self::DAY_SECONDS]);
        self::recordRunOfYesterday($installation);

        self::assertSame(ExitCode::Ok, $installation->run(['cron'])->exitCode);
        self::assertSame(ExitCode::Ok, $installation->run(['cron'])->exitCode);
        self::assertSame(
            ['GB'],
            array_column(
                $installation->rows('SELECT DISTINCT region FROM trending WHERE generation = 3'),
                'region',
            ),
        );
    }

    /** @param array<string, int> $ages seconds since the region's one video was observed */
    private static function withLists(array $ages): Installation
    {
        $installation = Installation::migrated();
        $lines = array_map(
            static fn(string $region, int $age): array => [
                'id' => "video-of-$region",
                'region' => $region,
                'observed_at' => NdjsonLine::ago($age),
            ],
            array_keys($ages),
            $ages,
        );
        $installation->run(['ingest', '-'], NdjsonLine::many($lines));
        $installation->run(['rank']);

        return $installation;
    }

    private static function recordRunOfYesterday(Installation $installation): void
    {
        $installation->execute(
            sprintf("INSERT INTO runs (command, started_at) VALUES ('cron', %d)", time() - 90_000),
        );
    }
}
