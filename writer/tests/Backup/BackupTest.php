<?php

declare(strict_types=1);

namespace TrendVault\Writer\Tests\Backup;

use PHPUnit\Framework\Attributes\DataProvider;
use PHPUnit\Framework\Attributes\Test;
use SQLite3;
use TrendVault\Writer\ExitCode;
use TrendVault\Writer\Publication\Base64Url;
use TrendVault\Writer\Tests\Publication\PublicationTestCase;
use TrendVault\Writer\Tests\Store\FakeStore;
use TrendVault\Writer\Tests\Support\Installation;

final class BackupTest extends PublicationTestCase
{
    private const array ROWS = [
        'SELECT * FROM observations ORDER BY observed_at, region, video_id',
        'SELECT * FROM velocity ORDER BY video_id, region',
        'SELECT * FROM videos ORDER BY id',
        'SELECT * FROM removals ORDER BY kind, name',
    ];

    #[Test]
    public function a_backup_comes_back_where_there_is_nothing_and_readers_are_led_forward(): void
    {
        $store = new FakeStore();
        $lost = self::installation($store, ['BACKUP_URL' => FakeStore::ADDRESS]);
        $lost->run(['cron']);
        $lost->run(['remove', 'video-GB-1', '--reason', 'a test']);
        array_map($store->delete(...), $store->keys('backups/')); // two of one second have no order
        self::assertSame(ExitCode::Ok, $lost->run(['backup'])->exitCode);
        for ($run = 0; $run < 5; $run++) {
            $lost->run(['cron']);
        }
        $before = self::current($store);
        $restored = new Installation($lost->environment);
        $result = $restored->run(['restore']);

        self::assertSame(ExitCode::Ok, $result->exitCode, $result->errors);
        foreach (self::ROWS as $rows) {
            self::assertSame($lost->rows($rows), $restored->rows($rows));
        }
        self::assertSame('ok', $restored->value('PRAGMA integrity_check'));
        $pointer = self::current($store);
        self::assertSame([7, 6], [$pointer->generation, $pointer->previousGeneration]);
        self::assertTrue($pointer->follows($before));
        self::assertSame(ExitCode::Ok, $restored->run(['cron'])->exitCode);
        self::assertWholeChain($store);
        self::assertNeverBackwards($store);
        self::assertDirectoryDoesNotExist("$restored->database.publication");
    }

    #[Test]
    public function cron_makes_one_a_day_and_deletes_what_is_too_old(): void
    {
        $store = new FakeStore();
        $installation = self::installation($store, [
            'BACKUP_URL' => FakeStore::ADDRESS,
            'BACKUP_RETENTION_HOURS' => '72',
        ]);
        foreach ([1, 2, 3, 4, 5] as $days) {
            $key =
                'backups/' .
                gmdate('Y-m-d\THis\Z', time() - $days * 86_400) .
                '-' .
                str_repeat('A', 43) .
                '.db.gz';
            $store->put($key, 'x');
            $store->age($key, $days * 86_400 - 600);
        }
        $installation->run(['cron']);
        $installation->run(['cron']);

        self::assertCount(4, $store->keys('backups/'));
        self::assertSame(1, $installation->value('SELECT count(*) FROM backups'));
        $installation->execute('UPDATE backups SET began_at = began_at - 86400');
        $installation->run(['cron']);
        self::assertCount(5, $store->keys('backups/'));
        $status = json_decode($installation->run(['status', '--json'])->output, true);
        self::assertGreaterThan(1000, $status['backup']['made']['bytes']);
        self::assertMatchesRegularExpression('~^Backup +\d+ s ago~m', $installation->run(['status'])->output);
        self::assertStringContainsString(
            'trendvault_writer_backup_failed{store="s3://lists/production"} 0',
            $installation->run(['status', '--prometheus'])->output,
        );
    }

    #[Test]
    public function a_backup_that_fails_is_said_is_not_tried_each_minute_and_costs_no_generation(): void
    {
        $store = new FakeStore();
        $installation = self::installation($store, ['BACKUP_URL' => FakeStore::ADDRESS]);
        $store->fail([['fault' => '507 QuotaExceeded', 'key' => 'backups/', 'for_ever' => true]]);
        $failed = $installation->run(['cron']);
        $next = $installation->run(['cron']);

        self::assertSame([ExitCode::SourceFailed, ExitCode::Ok], [$failed->exitCode, $next->exitCode]);
        self::assertStringContainsString(
            'No backup was made: The store is full',
            $failed->message('backup_failed'),
        );
        self::assertStringContainsString('store is full', $installation->run(['status'])->output);
        self::assertSame(2, self::current($store)->generation);
        $store->fail([]);
        $installation->execute('UPDATE backups SET began_at = began_at - 3600');
        self::assertCount(1, $installation->run(['cron'])->events('backed_up'));
    }

    /** @param callable(FakeStore, Installation): void $prepare */
    #[Test]
    #[DataProvider('refusals')]
    public function what_cannot_be_restored_is_refused_and_nothing_is_left(
        callable $prepare,
        ExitCode $exitCode,
        string $expected,
    ): void {
        $store = new FakeStore();
        $installation = self::installation($store, ['BACKUP_URL' => FakeStore::ADDRESS]);
        $installation->run(['cron']);
        $target = new Installation($installation->environment);
        $prepare($store, $target);
        $before = glob("{$target->folder->path}/*");
        $result = $target->run([
            'restore',
            ...is_file("{$target->folder->path}/time") ? ['--backup', '2020-01-01T000000Z'] : [],
        ]);

        self::assertSame($exitCode, $result->exitCode, $result->errors);
        self::assertStringContainsString($expected, $result->message());
        self::assertSame(
            $before,
            array_values(array_diff(glob("{$target->folder->path}/*"), ["$target->database.lock"])),
        );
        self::assertSame(1, self::current($store)->generation);
    }

    /** @return array<string, array{callable(FakeStore, Installation): void, ExitCode, string}> */
    public static function refusals(): array
    {
        $backup = static fn(FakeStore $store): string => $store->keys('backups/')[0];

        return [
            'a file is there' => [
                static fn(FakeStore $store, Installation $target) => $target->folder->write('test.db', 'x'),
                ExitCode::Usage,
                'Nothing was restored: there is a file',
            ],
            'a log is there' => [
                static fn(FakeStore $store, Installation $target) => $target->folder->write(
                    'test.db-wal',
                    'x',
                ),
                ExitCode::Usage,
                'test.db-wal',
            ],
            'the journal of a killed process is there' => [
                static fn(FakeStore $store, Installation $target) => $target->folder->write(
                    'test.db-journal',
                    'x',
                ),
                ExitCode::Usage,
                'test.db-journal',
            ],
            'none' => [
                static fn(FakeStore $store) => $store->delete($backup($store)),
                ExitCode::SourceFailed,
                'There is no backup in s3://lists/production/backups/.',
            ],
            'none of that time' => [
                static fn(FakeStore $store, Installation $target) => $target->folder->write('time', 'x'),
                ExitCode::SourceFailed,
                'There is no backup of 2020-01-01T000000Z in s3://lists/production/backups/, only of ',
            ],
            'damaged' => [
                static function (FakeStore $store) use ($backup): void {
                    $content = (string) $store->content($backup($store));
                    $content[500] = ~$content[500]; // another byte, whichever it was
                    $store->put($backup($store), $content);
                },
                ExitCode::SourceFailed,
                'its hash is another one',
            ],
            'cut off' => [
                static fn(FakeStore $store) => $store->put(
                    $backup($store),
                    substr((string) $store->content($backup($store)), 0, -100),
                ),
                ExitCode::SourceFailed,
                'its hash is another one',
            ],
            'the store is down' => [
                static fn(FakeStore $store) => $store->fail([['fault' => '500', 'for_ever' => true]]),
                ExitCode::SourceFailed,
                'The store failed',
            ],
        ];
    }

    #[Test]
    public function a_backup_of_a_newer_writer_is_refused_and_the_one_before_it_can_be_taken(): void
    {
        $store = new FakeStore();
        $unsigned = ['BACKUP_URL' => FakeStore::ADDRESS, 'PUBLISH_URL' => '', 'PUBLISH_SIGNING_KEYS' => ''];
        $installation = self::installation($store, $unsigned);
        $installation->run(['cron']);
        [$key] = $store->keys('backups/');
        $path = $installation->folder->write('newer.db', (string) gzdecode((string) $store->content($key)));
        $newer = new SQLite3($path);
        $newer->exec("INSERT INTO schema_migrations VALUES (9999, 'of_tomorrow', 'x', 0)");
        $newer->close();
        $packed = (string) gzencode((string) file_get_contents($path));
        $hash = Base64Url::encode(hash('sha256', $packed, true));
        $store->put("backups/2120-01-01T000000Z-$hash.db.gz", $packed);
        $target = new Installation($installation->environment);
        $refused = $target->run(['restore']);

        self::assertSame(ExitCode::SchemaMismatch, $refused->exitCode);
        self::assertStringContainsString(
            'its schema is version 9999, this writer supports',
            $refused->message(),
        );
        self::assertSame(["$target->database.lock"], glob("{$target->folder->path}/*"));
        $time = substr($key, strlen('backups/'), 18);
        self::assertSame(ExitCode::Ok, $target->run(['restore', '--backup', $time])->exitCode);
    }

    #[Test]
    public function an_exercise_leaves_the_published_generations_alone(): void
    {
        $store = new FakeStore();
        $installation = self::installation($store, ['BACKUP_URL' => FakeStore::ADDRESS]);
        $installation->run(['cron']);
        $before = $store->content('current.json');
        $exercise = new Installation($installation->environment);

        self::assertSame(ExitCode::Ok, $exercise->run(['restore', '--no-publish'])->exitCode);
        self::assertSame($before, $store->content('current.json'));
        self::assertSame(ExitCode::Ok, $installation->run(['cron'])->exitCode);
    }

    #[Test]
    public function without_publishing_a_backup_comes_back_too(): void
    {
        $store = new FakeStore();
        $installation = self::installation($store, [
            'BACKUP_URL' => 's3://lists/production',
            'PUBLISH_URL' => '',
        ]);
        $installation->run(['cron']);
        $target = new Installation([...$installation->environment, 'PUBLISH_SIGNING_KEYS' => '']);
        $result = $target->run(['restore']);

        self::assertSame(ExitCode::Ok, $result->exitCode, $result->errors);
        self::assertFalse($result->events('restored')[0]['is_proved']);
        self::assertSame(2, $target->value('SELECT max(id) FROM generations'));
    }
}
