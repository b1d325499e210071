<?php

declare(strict_types=1);

namespace TrendVault\Writer\Tests\Publication;

use PHPUnit\Framework\Attributes\Test;
use SQLite3;
use TrendVault\Writer\Database\Database;
use TrendVault\Writer\ExitCode;
use TrendVault\Writer\Publication\GenerationFile;
use TrendVault\Writer\Store\WorkFolder;
use TrendVault\Writer\Tests\Store\FakeStore;
use TrendVault\Writer\Tests\Support\Installation;
use TrendVault\Writer\Tests\Support\NdjsonLine;
use TrendVault\Writer\Tests\Support\SmallDisk;

final class GenerationFileTest extends PublicationTestCase
{
    /** What is of the generation, and comes whole. */
    private const array OF_GENERATION = [
        'generations' => 'id',
        'generation_regions' => 'generation',
        'trending' => 'generation',
        'explored_ranks' => 'generation',
        'explanations' => 'generation',
    ];
    private const array FILLED = [
        'details',
        'explanations',
        'generation_regions',
        'generations',
        'hourly_views',
        'lifted',
        'regions',
        'removals',
        'removals_version',
        'schema_migrations',
        'trending',
        'velocity',
        'videos',
    ];

    #[Test]
    public function it_has_the_rows_of_its_generation_and_all_tables(): void
    {
        $store = new FakeStore();
        $installation = self::withCategoryOnlyVideos($store);
        $file = self::file($store, $installation, self::current($store));
        $newest = $installation->value('SELECT max(id) FROM generations');

        self::assertSame(
            ['ok', 'delete'],
            [$file->querySingle('PRAGMA integrity_check'), $file->querySingle('PRAGMA journal_mode')],
        );
        self::assertNull($file->querySingle('PRAGMA foreign_key_check'));
        foreach (self::OF_GENERATION as $table => $column) {
            self::assertSame(
                $installation->rows("SELECT * FROM $table WHERE $column = $newest"),
                self::rows($file, "SELECT * FROM $table"),
                $table,
            );
        }
        $schema = 'SELECT type, name, sql FROM sqlite_schema WHERE sql IS NOT NULL ORDER BY type, name';
        self::assertSame($installation->rows($schema), self::rows($file, $schema));
        self::assertSame(self::FILLED, self::filledTables($file));
        self::assertSame(
            self::rows(
                $file,
                "SELECT id, '[\"a tag\"]' AS tags FROM videos WHERE id LIKE 'many-%' ORDER BY id",
            ),
            self::rows($file, 'SELECT video_id AS id, tags FROM details'),
        );
        self::assertSame(
            [['video_id' => 'many-1', 'field' => 'mature', 'until' => null]],
            self::rows($file, 'SELECT * FROM lifted'),
        );
        self::assertSame(
            $installation->value('SELECT version FROM removals_version'),
            $file->querySingle('SELECT version FROM removals_version'),
        );
    }

    #[Test]
    public function it_has_every_listed_video_and_the_counts_of_those_that_only_a_category_lists(): void
    {
        $store = new FakeStore();
        $installation = self::withCategoryOnlyVideos($store);
        $file = self::file($store, $installation, self::current($store));

        self::assertSame(
            0,
            $file->querySingle('SELECT count(*) FROM trending WHERE video_id NOT IN (SELECT id FROM videos)'),
        );
        self::assertSame(
            0,
            $file->querySingle('SELECT count(*) FROM videos WHERE id NOT IN (SELECT video_id FROM trending)'),
        );
        $onlyInCategory =
            "FROM trending WHERE video_id NOT IN (SELECT video_id FROM trending WHERE category = '')";
        self::assertGreaterThan(0, $file->querySingle("SELECT count(DISTINCT video_id) $onlyInCategory"));
        self::assertSame(
            self::rows($file, "SELECT DISTINCT video_id $onlyInCategory ORDER BY video_id"),
            self::rows($file, 'SELECT video_id FROM velocity ORDER BY video_id'),
        );
    }

    #[Test]
    public function it_says_when_something_was_last_erased_and_nothing_of_it(): void
    {
        $store = new FakeStore();
        $installation = self::withCategoryOnlyVideos($store);
        $erased = $installation->run(['erase', '--video', 'nobody']);
        self::assertSame(ExitCode::Ok, $erased->exitCode, $erased->errors);
        $file = self::file($store, $installation, self::current($store));

        self::assertSame(
            [
                [
                    'hash' => str_repeat('00', 32),
                    'erased_at' => $installation->value('SELECT max(erased_at) FROM erased'),
                ],
            ],
            self::rows($file, 'SELECT hex(name_hash) AS hash, erased_at FROM erased'),
        );
    }

    #[Test]
    public function it_says_as_the_database_does_which_older_origins_can_read_it(): void
    {
        $store = new FakeStore();
        $installation = self::withCategoryOnlyVideos($store);
        $file = self::file($store, $installation, self::current($store));

        self::assertSame(
            $installation->value('PRAGMA user_version'),
            $file->querySingle('PRAGMA user_version'),
        );
    }

    #[Test]
    public function the_same_generation_makes_the_same_bytes(): void
    {
        $store = new FakeStore();
        $installation = self::withCategoryOnlyVideos($store);
        $generation = self::current($store)->generation;
        $made = [];
        foreach ([1, 2] as $_) {
            $database = Database::openForWriting($installation->database, 1000);
            $folder = WorkFolder::beside($installation->database);
            $made[] = hash_file('sha256', new GenerationFile($database, $folder, $generation)->plain());
            $folder->remove();
            $database->close();
            $installation->run(['check']);
        }

        self::assertSame($made[0], $made[1]);
        self::assertSame(
            $made[0],
            hash('sha256', (string) gzdecode((string) $store->content(self::current($store)->fileKey()))),
        );
    }

    #[Test]
    public function it_has_neither_the_history_nor_why_a_video_was_taken_down(): void
    {
        $store = new FakeStore();
        $installation = self::withCategoryOnlyVideos($store);
        $bytes = (string) gzdecode((string) $store->content(self::current($store)->fileKey()));

        self::assertStringNotContainsString('between us', $bytes);
        self::assertStringContainsString('between us', (string) file_get_contents($installation->database));
        self::assertSame(
            ['video-GB-1', 'no reason given'],
            array_values(
                self::rows(
                    self::file($store, $installation, self::current($store)),
                    'SELECT name, reason FROM removals',
                )[0],
            ),
        );
    }

    #[Test]
    public function without_room_for_it_the_generation_stays_and_the_next_run_publishes_it(): void
    {
        $disk = new SmallDisk();
        $store = new FakeStore();
        $template = self::installation($store);
        $installation = new Installation($template->environment, "$disk->path/test.db", $template->folder);
        $installation->run(['migrate']);
        $installation->run(['cron']);
        $installation->run(['rank']);
        $disk->fillUpTo(120_000);
        $result = $installation->run(['publish']);

        self::assertSame(ExitCode::SourceFailed, $result->exitCode, $result->errors);
        self::assertMatchesRegularExpression('/Cannot (make|write) /', $result->message('store_failed'));
        self::assertSame(1, self::current($store)->generation);
        $disk->empty();
        self::assertSame(ExitCode::Ok, $installation->run(['publish'])->exitCode);
        self::assertSame(2, self::current($store)->generation);
    }

    /** More videos than a list over all categories has, and one that was taken down. */
    private static function withCategoryOnlyVideos(FakeStore $store): Installation
    {
        $installation = self::installation($store);
        $lines = [];
        for ($video = 0; $video < 620; $video++) {
            $lines[] = [
                'id' => "many-$video",
                'channel' => "Channel $video",
                'tags' => ['a tag'],
                'region' => 'GB',
                'category' => $video % 8 === 0 ? 'Sports' : "Category $video",
                'observed_at' => NdjsonLine::ago(60),
                'views' => 1_000_000 - 1000 * $video,
            ];
        }
        $lift = static fn(string $video): array => [
            'video' => $video,
            'field' => 'mature',
            'reason' => 'It is not',
        ];
        $installation->environment['EDITORIAL_FILE'] = $installation->folder->write(
            'editorial.json',
            json_encode(['lifted' => [$lift('many-1'), $lift('in-no-list')]], JSON_THROW_ON_ERROR),
        );
        $installation->run(['cron']);
        $installation->run(['ingest', '-'], NdjsonLine::many($lines));
        $installation->run(['remove', 'video-GB-1', '--reason', 'between us']);
        $result = $installation->run(['cron']);
        self::assertSame(ExitCode::Ok, $result->exitCode, $result->errors);

        return $installation;
    }

    /** @return list<array<string, mixed>> */
    private static function rows(SQLite3 $file, string $sql): array
    {
        $result = $file->query($sql);
        for ($rows = []; ($row = $result->fetchArray(SQLITE3_ASSOC)) !== false; ) {
            $rows[] = $row;
        }

        return $rows;
    }

    /** @return list<string> */
    private static function filledTables(SQLite3 $file): array
    {
        $tables = array_column(
            self::rows(
                $file,
                "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%' ORDER BY name",
            ),
            'name',
        );

        return array_values(
            array_filter(
                $tables,
                static fn(string $table): bool => $file->querySingle("SELECT 1 FROM $table LIMIT 1") === 1,
            ),
        );
    }
}
