<?php

declare(strict_types=1);

namespace TrendVault\Writer\Tests\Database;

use PHPUnit\Framework\Attributes\Test;
use TrendVault\Writer\Database\Run;
use TrendVault\Writer\ExitCode;
use TrendVault\Writer\Tests\Publication\PublicationTestCase;
use TrendVault\Writer\Tests\Store\FakeStore;
use TrendVault\Writer\Tests\Support\Installation;
use TrendVault\Writer\Tests\Support\NdjsonLine;

/** A database of the base, before the migrations that follow it. */
final class BaseTest extends PublicationTestCase
{
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
        $lost = self::asTheBase(self::installation($store, ['BACKUP_URL' => FakeStore::ADDRESS]));
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
            1 + self::migrationsAfterTheBase(),
            self::file($store, $restored, self::current($store))->querySingle(
                'SELECT count(*) FROM schema_migrations',
            ),
        );
    }

    #[Test]
    public function it_goes_on_and_what_was_counted_of_visitors_is_kept(): void
    {
        $installation = self::asTheBase(new Installation());
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
    public function one_of_before_is_refused_and_not_touched(): void
    {
        $installation = self::asTheBase(new Installation());
        foreach (
            [
                'UPDATE schema_migrations SET version = 22',
                "INSERT INTO schema_migrations VALUES (27, 'x', 'x', 0)",
            ]
            as $change
        ) {
            $installation->execute($change);
            foreach (['migrate', 'cron', 'status'] as $command) {
                $result = $installation->run([$command]);

                self::assertSame(ExitCode::SchemaMismatch, $result->exitCode);
                self::assertSame(
                    'Cannot use the database: it was made before schema version 27, by no release. Begin a new one.',
                    $result->message(),
                );
            }
        }
        self::assertSame(0, $installation->value('SELECT count(*) FROM runs WHERE command = \'cron\''));
    }

    private static function migrationsAfterTheBase(): int
    {
        return count((array) glob(self::MIGRATIONS . '/*.sql')) - 1;
    }

    private static function asTheBase(Installation $installation): Installation
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
            'PRAGMA user_version = 27; DELETE FROM schema_migrations; CREATE TEMP TABLE kept AS SELECT * FROM regions;' .
                implode(array_map(static fn(string $entry): string => "DROP $entry;", $entries)) .
                file_get_contents(self::MIGRATIONS . '/0027_base.sql') .
                ';INSERT INTO regions SELECT * FROM temp.kept;' .
                self::SEEN,
        );
        $installation->execute(
            "INSERT INTO schema_migrations VALUES (27, 'base', '" .
                hash_file('sha256', self::MIGRATIONS . '/0027_base.sql') .
                "', 1795171200)",
        );

        return $installation;
    }
}
