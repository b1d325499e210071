<?php

declare(strict_types=1);

namespace TrendVault\Writer\Tests\Retention;

use PHPUnit\Framework\Attributes\Test;
use PHPUnit\Framework\TestCase;
use TrendVault\Writer\Commands\SourceKinds;
use TrendVault\Writer\Database\Database;
use TrendVault\Writer\Retention\Pruning;
use TrendVault\Writer\Tests\Support\Draws;
use TrendVault\Writer\Tests\Support\FixedClock;
use TrendVault\Writer\Tests\Support\MigratedDatabase;

final class UnaskedSourcesTest extends TestCase
{
    private const int KEPT_SECONDS = 7 * 86_400;
    /** Tables about sources, with the name of the source and when it was asked. */
    private const array NAMES = [
        'source_schedules' => 'source',
        'peertube_pages' => "'peertube:' || host",
        'peertube_instances' => "'peertube:' || host",
        'http_sources' => 'url_hash',
        'youtube_pages' => 'region',
        'youtube_regions' => 'region',
        'youtube_videos' => 'region',
    ];
    /** By day, for a week of days. */
    private const string QUOTA = 'youtube_quota';
    /** By run, and gone with it. */
    private const string FAILURES = 'source_failures';

    #[Test]
    public function what_is_kept_of_sources_goes_when_they_are_not_asked_for_a_week_and_no_sooner(): void
    {
        $random = Draws::randomizer();
        $database = MigratedDatabase::inMemory();
        $asked = [];
        foreach (
            array_column($database->rows('SELECT code FROM regions LIMIT 5'), 'code')
            as $number => $region
        ) {
            $age = $random->getInt(0, 1) * self::KEPT_SECONDS + $random->getInt(0, self::KEPT_SECONDS);
            self::askAll($database, $number, $region, FixedClock::NOON - $age);
            if ($age <= self::KEPT_SECONDS) {
                array_push($asked, $region, "peertube:tube$number.example:8443", str_repeat("$number", 64));
            }
        }
        new Pruning($database)->forgetUnasked(SourceKinds::forgetting(), FixedClock::NOON);

        foreach (self::NAMES as $table => $name) {
            $left = array_column(
                $database->rows("SELECT DISTINCT $name AS name FROM $table ORDER BY name"),
                'name',
            );
            self::assertSame([], array_diff($left, $asked), "$table, " . Draws::hint());
            self::assertCount(intdiv(count($asked), 3), $left, "$table, " . Draws::hint());
        }
    }

    #[Test]
    public function what_was_used_of_a_quota_stays_for_a_week(): void
    {
        $database = MigratedDatabase::inMemory();
        foreach ([self::KEPT_SECONDS, self::KEPT_SECONDS + 1] as $age) {
            $database->run("INSERT INTO youtube_quota VALUES (?, 'charts', 5)", [FixedClock::NOON - $age]);
        }
        new Pruning($database)->forgetUnasked(SourceKinds::forgetting(), FixedClock::NOON);

        self::assertSame(
            FixedClock::NOON - self::KEPT_SECONDS,
            $database->value('SELECT sum(day_began_at) FROM youtube_quota'),
        );
    }

    #[Test]
    public function every_table_about_sources_is_emptied(): void
    {
        $database = MigratedDatabase::inMemory();
        $tables = array_column(
            $database->rows(
                "SELECT name FROM sqlite_schema WHERE type = 'table' AND name GLOB '*[_]*' AND
                  (name GLOB 'youtube*' OR name GLOB 'peertube*' OR name GLOB '*source*')",
            ),
            'name',
        );

        self::assertEqualsCanonicalizing([...array_keys(self::NAMES), self::QUOTA, self::FAILURES], $tables);
    }

    private static function askAll(Database $database, int $number, string $region, int $at): void
    {
        $host = "tube$number.example:8443";
        $database->run('INSERT INTO source_schedules VALUES (?, ?, 0, ?, NULL)', [
            "peertube:$host",
            $at,
            $at,
        ]);
        $database->run("INSERT INTO peertube_pages VALUES (?, 0, 'x', 1, ''), (?, 1, 'x', 1, '')", [
            $host,
            $host,
        ]);
        $database->run('INSERT INTO peertube_instances VALUES (?, 1)', [$host]);
        $database->run('INSERT INTO http_sources (url_hash, asked_at, retry_at) VALUES (?, ?, 0)', [
            str_repeat("$number", 64),
            $at,
        ]);
        $database->run("INSERT INTO youtube_pages VALUES (?, 1, 'x', NULL, ?)", [$region, $at]);
        $database->run('INSERT INTO youtube_regions VALUES (?, ?)', [$region, $at]);
        $database->run("INSERT INTO youtube_videos VALUES (?, 'v', 1, ?)", [$region, $at]);
    }
}
