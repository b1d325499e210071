<?php

declare(strict_types=1);

namespace TrendVault\Writer\Tests\Commands;

use PHPUnit\Framework\Attributes\DataProvider;
use PHPUnit\Framework\Attributes\Test;
use PHPUnit\Framework\TestCase;
use TrendVault\Writer\ExitCode;
use TrendVault\Writer\Tests\Support\Installation;
use TrendVault\Writer\Tests\Support\NdjsonLine;

final class RegionsTest extends TestCase
{
    private const string REGIONS_OF_NEWEST = 'SELECT region, video_count FROM generation_regions WHERE generation = (SELECT max(id) FROM generations) ORDER BY region';

    #[Test]
    public function only_the_named_regions_are_stored_ranked_and_published(): void
    {
        $installation = Installation::migrated(['REGIONS' => 'IE, GB']);

        $run = $installation->run(['ingest', '-'], self::lines(['GB', 'DE', 'IE', 'DE', 'FR']));
        $counts = $run->events('ingested')[0];
        self::assertSame(ExitCode::Ok, $run->exitCode, $run->errors);
        self::assertSame([2, 3, 0], [$counts['accepted'], $counts['other_region'], $counts['rejected']]);
        self::assertSame(3, $installation->value('SELECT other_regions FROM runs ORDER BY id DESC LIMIT 1'));
        self::assertSame(ExitCode::Ok, $installation->run(['rank'])->exitCode);

        self::assertSame(['GB' => 1, 'IE' => 1], self::regionsOfNewest($installation));
        self::assertSame(
            [['region' => 'GB'], ['region' => 'IE']],
            $installation->rows('SELECT DISTINCT region FROM trending ORDER BY region'),
        );
        self::assertSame(
            ['DE' => 0],
            $installation->rows("SELECT count(*) AS DE FROM velocity WHERE region = 'DE'")[0],
        );
    }

    #[Test]
    public function a_line_that_is_wrong_is_rejected_whatever_its_region_and_a_removal_counts_for_all(): void
    {
        $installation = Installation::migrated(['REGIONS' => 'GB']);
        $installation->run(['ingest', '-'], self::lines(['GB', 'DE']));
        $lines = [
            '{"region": "DE"}',
            NdjsonLine::of(['region' => 'XX']),
            '{"channel": "A channel", "removed": true}',
        ];
        $counts = $installation->run(['ingest', '-'], implode("\n", $lines) . "\n")->events('ingested')[0];

        self::assertSame([2, 1], [$counts['rejected'], $counts['removed']]);
        self::assertSame(
            ['missing_field', 'unknown_region'],
            array_column($installation->rows('SELECT reason FROM rejections ORDER BY reason'), 'reason'),
        );
    }

    #[Test]
    public function of_a_catalogue_the_own_regions_are_taken(): void
    {
        $installation = Installation::migrated(['REGIONS' => 'GB']);
        $announce = static fn(string $id, array $regions): string => NdjsonLine::of([
            'id' => $id,
            'regions' => $regions,
            'region' => null,
            'views' => null,
            'observed_at' => null,
        ]);
        $lines = [$announce('a', ['DE', 'GB']), $announce('b', ['DE', 'FR']), $announce('c', ['GB'])];
        $counts = $installation->run(['ingest', '-'], implode("\n", $lines))->events('ingested')[0];

        self::assertSame([2, 1, 0], [$counts['announced'], $counts['other_region'], $counts['rejected']]);
        self::assertSame(
            [['region' => 'GB', 'video_id' => 'a'], ['region' => 'GB', 'video_id' => 'c']],
            $installation->rows('SELECT region, video_id FROM catalogue ORDER BY video_id'),
        );
        self::assertSame(2, $installation->value('SELECT count(*) FROM videos'));
    }

    #[Test]
    public function a_database_with_all_regions_goes_on_with_larger_numbers_and_back(): void
    {
        $installation = Installation::migrated();
        $installation->run(['ingest', '-'], self::lines(['GB', 'DE', 'FR']));
        $installation->execute(
            "INSERT INTO impressions (region, video_id, rank_group, age_group, impressions, clicks, age_hours, counted_at)
             SELECT 'FR', id, 1, 0, 5, 1, 0, 0 FROM videos; INSERT INTO catalogue (region, video_id, announced_at) SELECT 'DE', id, 0 FROM videos",
        );
        self::rankTwice($installation);
        $installation->environment = ['REGIONS' => 'FR,DE'];
        self::rankTwice($installation);

        self::assertSame(['DE' => 1, 'FR' => 1], self::regionsOfNewest($installation));
        $installation->environment = [];
        self::rankTwice($installation);
        self::assertSame(14, count(self::regionsOfNewest($installation)));
        self::assertSame(
            [1, 2, 257, 513, 514, 515],
            array_column($installation->rows('SELECT id FROM generations ORDER BY id'), 'id'),
        );
    }

    #[Test]
    public function the_status_names_the_regions(): void
    {
        $installation = Installation::migrated(['REGIONS' => 'IE,GB']);

        self::assertStringContainsString("Ranks       GB, IE only\n", $installation->run(['status'])->output);
        $read = static fn(): array => json_decode(
            $installation->run(['status', '--json'])->output,
            true,
            flags: JSON_THROW_ON_ERROR,
        );
        self::assertSame(['GB', 'IE'], $read()['ranked_regions']);
        $installation->environment = [];
        self::assertNull($read()['ranked_regions']);
    }

    /** @return iterable<string, array{string, string}> */
    public static function badSettings(): iterable
    {
        yield 'an unknown code' => ['GB,UK', 'expected not UK, but codes of db/regions.json'];
        yield 'a code in lower case' => ['gb', 'expected not gb, but codes of db/regions.json'];
        yield 'a code twice' => ['GB,IE,GB', 'expected not GB twice, but codes'];
        yield 'an empty entry' => ['GB,,IE', 'expected no empty entry, but codes'];
        yield 'nothing but a comma' => [',', 'expected no empty entry, but codes'];
    }

    #[Test]
    #[DataProvider('badSettings')]
    public function a_setting_that_cannot_be_read_stops_every_command_that_needs_it(
        string $text,
        string $message,
    ): void {
        $installation = Installation::migrated(['REGIONS' => $text]);
        foreach ([['rank'], ['ingest', '-'], ['cron'], ['status']] as $words) {
            $result = $installation->run($words);
            self::assertSame(ExitCode::Usage, $result->exitCode);
            self::assertStringContainsString("REGIONS=$text", $result->errors);
            self::assertStringContainsString($message, $result->errors);
            self::assertStringContainsString('for example GB,DE', $result->errors);
        }
    }

    private static function rankTwice(Installation $installation): void
    {
        foreach ([1, 2] as $_) {
            $run = $installation->run(['rank']);
            self::assertSame(ExitCode::Ok, $run->exitCode, $run->errors);
        }
    }

    /** @return array<string, int> the number of videos of each */
    private static function regionsOfNewest(Installation $installation): array
    {
        return array_column($installation->rows(self::REGIONS_OF_NEWEST), 'video_count', 'region');
    }

    /** @param list<string> $regions of a line each */
    private static function lines(array $regions): string
    {
        return NdjsonLine::many(
            array_map(
                static fn(int $index, string $region): array => [
                    'region' => $region,
                    'observed_at' => NdjsonLine::ago(600 - $index),
                ],
                array_keys($regions),
                $regions,
            ),
        );
    }
}
