<?php

declare(strict_types=1);

namespace TrendVault\Writer\Tests\Database;

use PHPUnit\Framework\Attributes\Test;
use TrendVault\Writer\ExitCode;
use TrendVault\Writer\Tests\Publication\PublicationTestCase;
use TrendVault\Writer\Tests\Store\FakeStore;
use TrendVault\Writer\Tests\Support\Installation;
use TrendVault\Writer\Tests\Support\NdjsonLine;

/** A database that was brought to version 27 one file at a time, before these files became the base. */
final class BaseTest extends PublicationTestCase
{
    /** What commit 5458ec0 records in schema_migrations. */
    private const string HISTORY = <<<'TEXT'
    1 create_regions 31eebb19910c3ab9ed7c8d373c604fecbe83a85f86ec87a46f8c01881ea770ba
    2 create_videos a30ed28ec87095320ef8cecbcff7dab22389ff0db5977d60b345409a1ef2cced
    3 create_observations fa982362f83d95d00eb33eb5bc4512df6bd858f333928f89b9bdd3856bf37afb
    4 create_velocity a6355f92e9e7ca1099fd54c69c0c5031928d5da8cb6fd8398e5270e6d887d9e0
    5 create_generations da3fe7b3b795e749dfd9b83a348a4f589a28e8159631cfca2907035830ef5b80
    6 create_trending def99347c04c7ae1dafae801b0bd8d0dead9dd8923aae5063748b4ebb4191444
    7 create_runs 4c7508ced6e81adf1d217e9bd4be6056df703ca3f06f32d50c05e58c729c6797
    8 create_youtube_schedule 53f4170ebededaf77aef602736a0f5acde7db3371bf270485e38a2d6bfcd1af7
    9 create_removals dfe830aa2e5e4c1363aa9a08677b828aaebe04d4fc21d02667090304cb2bb21e
    10 create_checks e98d7b964787addd5435a5518c7564382bc01767fead12264ca2a79406c51a2f
    11 create_looks 7be82175c41c538630049a34add65a47a52c9d87246cb1595c5db1dac0e04fbd
    12 add_youtube_failure 9b80bf163cd737c26893049554097cfc1ba3c9650d6c4167d7a19601f63c2d7b
    13 create_pulled_counts 6139ee9964586deda2f87bd021982d8b9323e84127c7e9f3dd71ce811042db49
    14 compare_windows fb4f7252fff226dc27123807c7dc6e0757799c9286048f08e07054b88b36d9bf
    15 create_previous_ranks 8d0248f1b59fc52123e0e5db2dd5808bb0e14b9e5cd372e16a40a48bf1d0b63b
    16 create_rank_snapshots b24dea50c9784581301f705f634a8bbacf13a3336fdd3be91f08dfd36131214e
    17 create_hourly_views a1ed897a6d5ddea914479f1ea979d2cf04800ebb1d1f8d5db0d007c11aacbd1c
    18 create_explanations 98582a23cd153871aa767749e42571117d6bc5b46012be3e1e70ac7ea1fa9b49
    19 create_publications 8769f8ba2992fdfd0cb7e15f61f2e5fe3aff5f008b63eeb8734679c2f30d710f
    20 create_http_sources dbba081dd2bc2f10760b7884f98085fbcb3f844d7f38d3057c0c3c36a1b339d4
    21 share_regions c5c77e0923e1198755688e03908ec8e89f090243de57dba8936db8e07ca81695
    22 create_backups d638c03d401c367dab1f750ea4800b11e465a6d315a9f718e2ea36d3db68362a
    23 schedule_sources 5c37d42322cc979ebe5b5ba214029a295a5cc4db17fb81c4ef5735aac03f9b25
    24 create_peertube b807bd4dbf0f71ebe0d5b6c062069b6f0183d6374b1849608cb9455efa347521
    25 count_youtube_videos 12704cd1c44ac14489d456a4439d1f289b1b96b3f0c8e1bcce216d0795440b42
    26 list_languages f6f51c1dea85d835bde7129dfdb83711a8671b186932fa7f9abc905feee4ce4a
    27 count_source_failures 50bfee8d5d1921f60ab7782b8f96531d4fa52cf8c02395f567813c26263b6564
    TEXT;

    private const string MIGRATIONS = __DIR__ . '/../../../db/migrations';

    /** Two groups of ranks of a video that is 7 hours old; and one that is counted where it was announced. */
    private const string SEEN = <<<'SQL'
    INSERT INTO videos (id, title, channel, thumb_base, first_seen_at) VALUES ('seen', 'T', 'C', 'https://t.example/', 1795100000);
    INSERT INTO videos (id, title, channel, thumb_base, first_seen_at) VALUES ('both', 'T', 'C', 'https://t.example/', 1795100000);
    INSERT INTO velocity VALUES ('both', 'GB', 1795170000, 1795170000, 1, 9, 0, 1795170000, NULL, 0);
    INSERT INTO catalogue VALUES ('GB', 'seen', 1795171000), ('GB', 'both', 1795171000), ('DE', 'both', 1795171000);
    INSERT INTO looks VALUES ('GB', 'seen', 1, 100, 50, 8, 1795171200), ('GB', 'seen', 25, 10, 0, 0, 1795171100);
    SQL;

    #[Test]
    public function a_backup_of_it_is_restored_and_its_stores_removals_and_numbers_go_on(): void
    {
        $store = new FakeStore();
        $lost = self::asBeforeTheBase(self::installation($store, ['BACKUP_URL' => FakeStore::ADDRESS]));
        $lost->run(['cron']);
        $lost->run(['remove', 'video-GB-1', '--reason', 'a test']);
        array_map($store->delete(...), $store->keys('backups/')); // two of one second have no order
        self::assertSame(ExitCode::Ok, $lost->run(['backup'])->exitCode);
        $lost->run(['cron']);
        $restored = new Installation($lost->environment);

        self::assertSame(ExitCode::Ok, $restored->run(['restore'])->exitCode);
        self::assertSame(
            $lost->rows('SELECT * FROM schema_migrations'),
            $restored->rows('SELECT * FROM schema_migrations'),
        );
        self::assertSame(1, $restored->value('SELECT count(*) FROM removals'));
        self::assertSame(ExitCode::Ok, $restored->run(['cron'])->exitCode);
        self::assertSame(4, self::current($store)->generation);
        self::assertWholeChain($store);
        self::assertNeverBackwards($store);
        self::assertSame(
            27 + self::migrationsAfterTheBase(),
            self::file($store, $restored, self::current($store))->querySingle(
                'SELECT count(*) FROM schema_migrations',
            ),
        );
    }

    #[Test]
    public function it_goes_on_and_what_was_counted_of_visitors_is_kept(): void
    {
        $installation = self::asBeforeTheBase(new Installation());
        $before = $installation->rows('SELECT * FROM schema_migrations');
        $installation->execute("UPDATE videos SET first_seen_at = unixepoch() WHERE id = 'seen'");
        $migrated = $installation->run(['migrate']);
        $ingested = $installation->run(
            ['ingest', '-'],
            NdjsonLine::of(['observed_at' => NdjsonLine::ago(60)]) . "\n",
        );

        self::assertSame(ExitCode::Ok, $migrated->exitCode);
        self::assertCount(self::migrationsAfterTheBase(), $migrated->events('migration_applied'));
        self::assertSame(ExitCode::Ok, $ingested->exitCode);
        self::assertSame(ExitCode::Ok, $installation->run(['rank'])->exitCode);
        self::assertSame($before, $installation->rows('SELECT * FROM schema_migrations WHERE version < 28'));
        self::assertSame(
            [
                [1, 4, 100.0, 8.0, 7.0, 1_795_171_200, 0.0, 0.0],
                [25, 0, 10.0, 0.0, 0.0, 1_795_171_100, 0.0, 0.0],
            ],
            array_map(
                static fn(array $row): array => array_slice(array_values($row), 2),
                $installation->rows('SELECT * FROM impressions ORDER BY rank_group'),
            ),
        );
        self::assertSame(
            [['GB', 1, 300.0], ['GB', 25, 30.0]],
            array_map(
                static fn(array $row): array => array_slice(array_values($row), 0, 3),
                $installation->rows('SELECT * FROM rank_traffic ORDER BY rank_group'),
            ),
        );
        self::assertSame(
            [
                ['DE', 'both', 0, 1_795_171_000, 0],
                ['GB', 'both', 0, 1_795_171_000, 1_795_170_000],
                ['GB', 'seen', 0, 1_795_171_000, 0],
            ],
            array_map(
                array_values(...),
                $installation->rows(
                    'SELECT region, video_id, source, announced_at, first_announced_at FROM catalogue ORDER BY 1, 2',
                ),
            ),
            'what waits for a review, since it was counted in its time, goes on to wait',
        );
        self::assertSame(27, $installation->value('PRAGMA user_version'));
    }

    #[Test]
    public function an_older_one_is_told_which_commit_migrates_it_and_is_not_touched(): void
    {
        $installation = self::asBeforeTheBase(new Installation());
        $installation->execute('DELETE FROM schema_migrations WHERE version > 22');
        foreach (['migrate', 'cron', 'status'] as $command) {
            $result = $installation->run([$command]);

            self::assertSame(ExitCode::SchemaMismatch, $result->exitCode);
            self::assertSame(
                'Cannot use the database: its schema is version 22, this writer begins with 27. Run `writer migrate` of commit 5458ec0 first.',
                $result->message(),
            );
        }
        self::assertSame(22, $installation->value('SELECT count(*) FROM schema_migrations'));
        self::assertSame(0, $installation->value('SELECT count(*) FROM runs WHERE command = \'cron\''));
    }

    #[Test]
    public function a_change_in_what_was_applied_is_seen(): void
    {
        $installation = self::asBeforeTheBase(new Installation());
        foreach (
            [
                "UPDATE schema_migrations SET checksum = 'x' WHERE version = 3",
                'DELETE FROM schema_migrations WHERE version = 3',
            ]
            as $change
        ) {
            $installation->execute($change);
            $result = $installation->run(['cron']);

            self::assertSame(ExitCode::SchemaMismatch, $result->exitCode);
            self::assertStringContainsString(
                'its migrations 1 to 27 are not those of commit 5458ec0 (checksum differs)',
                $result->message(),
            );
        }
    }

    private static function migrationsAfterTheBase(): int
    {
        return count((array) glob(self::MIGRATIONS . '/*.sql')) - 1;
    }

    private static function asBeforeTheBase(Installation $installation): Installation
    {
        $installation->run(['migrate']);
        $entries = array_column(
            $installation->rows(
                "SELECT type || ' ' || name AS entry FROM sqlite_schema WHERE type IN ('table', 'view')
                   AND name NOT GLOB 'sqlite_*' AND name <> 'schema_migrations' ORDER BY type DESC",
            ),
            'entry',
        );
        $installation->execute(
            'PRAGMA user_version = 26; DELETE FROM schema_migrations; CREATE TEMP TABLE kept AS SELECT * FROM regions;' .
                implode(array_map(static fn(string $entry): string => "DROP $entry;", $entries)) .
                file_get_contents(self::MIGRATIONS . '/0027_base.sql') .
                ';INSERT INTO regions SELECT * FROM temp.kept;' .
                self::SEEN,
        );
        foreach (explode("\n", self::HISTORY) as $line) {
            [$version, $name, $checksum] = explode(' ', $line);
            $installation->execute(
                "INSERT INTO schema_migrations VALUES ($version, '$name', '$checksum', 1795171200)",
            );
        }

        return $installation;
    }
}
