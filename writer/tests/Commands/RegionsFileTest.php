<?php

declare(strict_types=1);

namespace TrendVault\Writer\Tests\Commands;

use PHPUnit\Framework\Attributes\Test;
use PHPUnit\Framework\TestCase;
use TrendVault\Writer\Database\RegionTable;
use TrendVault\Writer\ExitCode;
use TrendVault\Writer\Tests\Support\Installation;
use TrendVault\Writer\Tests\Support\NdjsonLine;

final class RegionsFileTest extends TestCase
{
    private const string REGIONS_OF_NEWEST = 'SELECT region FROM generation_regions WHERE generation = (SELECT max(id) FROM generations) ORDER BY region';

    #[Test]
    public function the_regions_of_the_file_are_stored_ranked_and_published_and_no_others(): void
    {
        $installation = self::installation(['US', 'CA', 'MX']);
        $installation->run(['migrate']);
        $run = $installation->run(['ingest', '-'], self::lines(['US', 'MX', 'GB']));

        $counts = $run->events('ingested')[0];
        self::assertSame([2, 1], [$counts['accepted'], $counts['rejected']], $run->errors);
        self::assertSame(ExitCode::Ok, $installation->run(['rank'])->exitCode);
        self::assertSame(['CA', 'MX', 'US'], self::newest($installation));
        self::assertStringContainsString(
            "Region   Videos  Newest observation\nCA ",
            $installation->run(['status'])->output,
        );
        self::assertStringNotContainsString(
            'region="GB"',
            $installation->run(['status', '--prometheus'])->output,
        );
    }

    #[Test]
    public function a_region_that_leaves_the_file_is_not_published_and_comes_back_with_its_history(): void
    {
        $installation = self::installation(['US', 'CA']);
        $installation->run(['migrate']);
        $installation->run(['ingest', '-'], self::lines(['US', 'CA']));
        $installation->run(['rank']);
        self::nameRegions($installation, ['US']);

        $counts = $installation->run(['ingest', '-'], self::lines(['CA']))->events('ingested')[0];
        self::assertSame(1, $counts['rejected']);
        self::assertSame(ExitCode::Ok, $installation->run(['rank'])->exitCode);
        self::assertSame(['US'], self::newest($installation));
        self::assertStringNotContainsString("\nCA ", $installation->run(['status'])->output);
        self::nameRegions($installation, ['US', 'CA']);
        $installation->run(['rank']);
        self::assertSame(['CA', 'US'], self::newest($installation));
        self::assertSame([1, 2, 3], array_column($installation->rows('SELECT id FROM generations'), 'id'));
        self::assertSame(
            2,
            $installation->value(
                "SELECT count(*) FROM trending WHERE region = 'CA' AND category = '' AND window = 'now'",
            ),
        );
    }

    #[Test]
    public function a_file_of_the_site_alone_leaves_the_built_in_regions(): void
    {
        $table = RegionTable::read(
            "\u{feff}" .
                '{"channel_limit": {"videos": 1, "within_ranks": 2}, "site": {"name": "Kanal"}, "languages": {"he": "he.json"}}',
        );
        $builtIn = RegionTable::read((string) file_get_contents(__DIR__ . '/../../../db/regions.json'));

        self::assertSame($builtIn->regions, $table->regions);
        self::assertSame(1, $table->channelLimit['videos'] ?? null);
    }

    #[Test]
    public function what_sources_call_a_category_otherwise_is_that_category(): void
    {
        $installation = new Installation();
        $file = "{$installation->folder->path}/regions.json";
        $installation->environment = ['REGIONS_FILE' => $file];
        $categories = [
            'Music' => ['also' => ['Musik ', '7']],
            'News' => ['names' => ['de' => 'Nachrichten']],
        ];
        file_put_contents($file, json_encode(['site' => ['name' => 'A', 'categories' => $categories]]));
        $installation->run(['migrate']);
        $names = [
            'a' => 'Musik',
            'b' => 'Music',
            'c' => '7',
            'd' => 'musik',
            'e' => 'Nachrichten',
            'f' => null,
            'fa' => ' Musik  ',
            'fb' => 'Bricolage ',
        ];
        $lines = array_map(
            static fn(string $id): array => ['id' => $id, 'category' => $names[$id]],
            array_keys($names),
        );
        $announced = [
            'id' => 'g',
            'regions' => ['GB'],
            'region' => null,
            'views' => null,
            'category' => 'Musik',
        ];
        $run = $installation->run(['ingest', '-'], NdjsonLine::many([...$lines, $announced]));

        self::assertSame(ExitCode::Ok, $run->exitCode, $run->errors);
        self::assertSame(
            [...$names, 'a' => 'Music', 'c' => 'Music', 'g' => 'Music', 'fa' => 'Music', 'fb' => 'Bricolage'],
            array_column(
                $installation->rows('SELECT id, category FROM videos ORDER BY id'),
                'category',
                'id',
            ),
        );
    }

    #[Test]
    public function a_region_that_is_new_in_the_file_needs_a_migrate(): void
    {
        $installation = self::installation(['US']);
        $installation->run(['migrate']);
        self::nameRegions($installation, ['US', 'CA']);

        $run = $installation->run(['ingest', '-'], self::lines(['CA']));
        self::assertSame(ExitCode::SchemaMismatch, $run->exitCode);
        self::assertStringContainsString(
            'it does not have the regions CA yet. Run `writer migrate`.',
            $run->errors,
        );
        $installation->run(['migrate']);
        self::assertSame(
            1,
            $installation->run(['ingest', '-'], self::lines(['CA']))->events('ingested')[0]['accepted'],
        );
    }

    #[Test]
    public function the_limit_by_channel_of_the_file_is_in_force_and_said(): void
    {
        $installation = self::installation(['US']);
        $installation->run(['migrate']);
        $lines = array_map(
            static fn(int $number): string => NdjsonLine::of([
                'region' => 'US',
                'id' => "v$number",
                'views' => 1000 - $number,
                'channel' => $number < 4 ? 'A' : 'B',
            ]),
            range(1, 6),
        );
        $installation->run(['ingest', '-'], implode("\n", $lines));
        $listed = static function (?array $limit) use ($installation): array {
            self::nameRegions($installation, ['US'], $limit);
            self::assertSame(ExitCode::Ok, $installation->run(['rank'])->exitCode);
            $newest = '(SELECT max(id) FROM generations)';

            return [
                array_column(
                    $installation->rows(
                        "SELECT video_id FROM trending WHERE window = 'now' AND category = '' AND generation = $newest ORDER BY rank",
                    ),
                    'video_id',
                ),
                array_values(
                    $installation->rows(
                        "SELECT max_per_channel, max_per_channel_ranks FROM generations WHERE id = $newest",
                    )[0],
                ),
            ];
        };

        self::assertSame(
            [['v1', 'v4', 'v2', 'v3', 'v5', 'v6'], [1, 4]],
            $listed(['videos' => 1, 'within_ranks' => 4]),
        );
        self::assertStringContainsString(
            'at most 1 videos of a channel in the first 4',
            $installation->run(['explain', 'US', 'v2'])->output,
        );
        self::assertSame(
            [['v1', 'v2', 'v3', 'v4', 'v5', 'v6'], [3, 0]],
            $listed(['videos' => 3.0, 'within_ranks' => 0]),
        );
        self::assertStringNotContainsString(
            'of a channel',
            $installation->run(['explain', 'US', 'v2'])->output,
        );
        self::assertSame([3, 24], $listed(null)[1]);
    }

    #[Test]
    public function a_file_that_cannot_be_used_is_said_with_each_mistake(): void
    {
        $installation = self::installation(['US', 'US', 'usa']);
        $run = $installation->run(['migrate']);

        self::assertSame(ExitCode::Usage, $run->exitCode);
        self::assertStringContainsString(
            'regions[2].code: expected an ISO 3166-1 alpha-2 code, like GB',
            $run->errors,
        );
        $installation->environment = ['REGIONS_FILE' => '/nowhere/regions.json'];
        self::assertStringContainsString(
            'Cannot read REGIONS_FILE=/nowhere/regions.json: expected a file that this user can read.',
            $installation->run(['migrate'])->errors,
        );
    }

    #[Test]
    public function a_file_of_more_bytes_than_an_origin_reads_is_refused_without_being_read_whole(): void
    {
        $installation = self::installation(['GB']);
        $path = $installation->environment['REGIONS_FILE'];
        $text = (string) file_get_contents($path);
        file_put_contents($path, str_pad($text, 65_536));
        self::assertSame(ExitCode::Ok, $installation->run(['migrate'])->exitCode);
        ftruncate(fopen($path, 'r+') ?: self::fail(), 2 ** 40); // sparse
        $run = $installation->run(['migrate']);
        self::assertSame(ExitCode::Usage, $run->exitCode);
        self::assertStringContainsString('expected a file of at most 65536 bytes.', $run->errors);
    }

    #[Test]
    public function a_file_whose_disk_fails_is_said_and_is_no_bug(): void
    {
        $installation = self::installation(['GB']);
        $installation->environment['REGIONS_FILE'] = '/proc/self/mem'; // a read of its first bytes fails with EIO
        $run = $installation->run(['migrate']);
        self::assertSame(ExitCode::Usage, $run->exitCode);
        self::assertStringContainsString('Cannot read REGIONS_FILE=/proc/self/mem', $run->errors);
    }

    /** @param non-empty-list<string> $codes */
    private static function installation(array $codes): Installation
    {
        $installation = new Installation();
        $installation->environment = ['REGIONS_FILE' => "{$installation->folder->path}/regions.json"];
        self::nameRegions($installation, $codes);

        return $installation;
    }

    /**
     * @param non-empty-list<string> $codes
     * @param ?array<string, mixed> $channelLimit
     */
    private static function nameRegions(
        Installation $installation,
        array $codes,
        ?array $channelLimit = null,
    ): void {
        $region = static fn(string $code): array => [
            'code' => $code,
            'name' => "Region $code",
            'languages' => ['en'],
        ];
        file_put_contents(
            $installation->environment['REGIONS_FILE'],
            json_encode(
                [
                    'default' => $codes[0],
                    'regions' => array_map($region, $codes),
                    ...$channelLimit === null ? [] : ['channel_limit' => $channelLimit],
                ],
                JSON_THROW_ON_ERROR | JSON_PRESERVE_ZERO_FRACTION,
            ),
        );
    }

    /** @return list<string> */
    private static function newest(Installation $installation): array
    {
        return array_column($installation->rows(self::REGIONS_OF_NEWEST), 'region');
    }

    /** @param list<string> $regions */
    private static function lines(array $regions): string
    {
        return implode(
            "\n",
            array_map(static fn(string $region): string => NdjsonLine::of(['region' => $region]), $regions),
        ) . "\n";
    }
}
