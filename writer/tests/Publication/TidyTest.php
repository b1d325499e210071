<?php

declare(strict_types=1);

namespace TrendVault\Writer\Tests\Publication;

use PHPUnit\Framework\Attributes\Test;
use TrendVault\Writer\ExitCode;
use TrendVault\Writer\Publication\Pointer;
use TrendVault\Writer\Publication\SigningKeys;
use TrendVault\Writer\Tests\Store\FakeStore;

use TrendVault\Writer\Tests\Support\Installation;

final class TidyTest extends PublicationTestCase
{
    private const int DAY = 86_400;
    private const int LONGEST_TEST_SECONDS = 180;

    #[Test]
    public function old_objects_go_the_newest_ten_and_what_is_young_stay(): void
    {
        $store = new FakeStore(page: 3);
        $installation = self::installation($store, ['PUBLISH_RETENTION_HOURS' => '2']);
        $installation->run(['cron']);
        $now = time();
        for ($generation = 100; $generation < 130; $generation++) {
            $file = "generations/$generation-" . str_repeat('A', 43) . '.db.gz';
            $bundle = "bundles/$generation-" . str_repeat('A', 43) . '.bundle';
            foreach ([$file => 450, $bundle => 360, "bundles/$generation.json" => 360] as $key => $interval) {
                $store->put($key, 'x');
                // Two hours are between the ages of 114 and 115, minutes from both.
                $store->age($key, 6975 + $interval * (115 - $generation), $now);
            }
        }
        $store->put('generations/notes.txt', 'of somebody else');
        $store->age('generations/notes.txt', 9 * self::DAY);
        $installation->execute('UPDATE publications SET tidied_at = NULL');
        $result = $installation->run(['cron']);

        self::assertSame(ExitCode::Ok, $result->exitCode, $result->errors);
        $kept = preg_filter('~^generations/(\d+)-.*~', '$1', $store->keys('generations/'));
        sort($kept, SORT_NUMERIC);
        // Generation 1 and 2 are young, although many numbers are larger.
        self::assertSame(['1', '2', ...array_map(strval(...), range(115, 129))], array_values($kept));
        self::assertContains('generations/notes.txt', $store->keys());
        $bundles = preg_filter('~^bundles/(\d+)\.json~', '$1', $store->keys('bundles/'));
        // 119 is an hour older than the newest one.
        self::assertSame(array_map(strval(...), range(119, 129)), array_values($bundles));
        self::assertCount(11, preg_grep('~\.bundle$~', $store->keys('bundles/')));
        self::assertSame([15 + 2 * 19], array_column($result->events('store_tidied'), 'deleted'));
    }

    #[Test]
    public function a_clock_that_jumps_deletes_nothing(): void
    {
        $store = new FakeStore();
        $installation = self::installation($store, ['PUBLISH_RETENTION_HOURS' => '1']);
        $installation->run(['cron']);
        for ($run = 0; $run < 14; $run++) {
            $installation->run(['rank']);
            $installation->execute('UPDATE publications SET tidied_at = NULL');
            $installation->run(['publish']);
        }
        foreach ($store->keys() as $key) {
            $store->age($key, 400 * self::DAY);
        }
        $installation->execute('UPDATE publications SET tidied_at = 1');
        $installation->run(['publish']);

        self::assertCount(15, $store->keys('generations/'));
    }

    #[Test]
    public function pointers_of_a_day_that_is_over_are_packed_and_none_is_lost(): void
    {
        $store = new FakeStore(page: 4);
        $installation = self::installation($store);
        $texts = self::publishOnDays($installation, $store, runs: 7);
        $store->fail([['fault' => '500', 'method' => 'DELETE', 'key' => 'pointers/3', 'for_ever' => true]]);
        $failed = $installation->run(['cron']);
        $store->fail([]);
        for ($run = 0; $run < 4; $run++) {
            $installation->execute('UPDATE publications SET tidied_at = NULL');
            $result = $installation->run(['cron']);
        }

        self::assertSame([ExitCode::SourceFailed, ExitCode::Ok], [$failed->exitCode, $result->exitCode]);
        $packs = $store->keys('pointers/packed/');
        self::assertCount(2, $packs);
        $packed = implode(
            array_map(
                static fn(string $key): string => (string) gzdecode((string) $store->content($key)),
                $packs,
            ),
        );
        $expected = array_slice($texts, 0, 6);
        self::assertSame(implode("\n", $expected) . "\n", $packed);
        foreach ([1, 2, 3, 4, 5, 6] as $generation) {
            self::assertNull($store->content("pointers/$generation.json"));
        }
        self::assertSame($texts[6], $store->content('pointers/7.json'));
    }

    #[Test]
    public function pointers_that_this_database_does_not_know_are_packed_too(): void
    {
        $store = new FakeStore();
        $installation = self::installation($store);
        $texts = self::publishOnDays($installation, $store, runs: 5);
        $installation->execute('DELETE FROM pointers WHERE generation IN (2, 3)');
        $installation->run(['cron']);
        $installation->execute('UPDATE publications SET tidied_at = NULL');
        $installation->run(['cron']);

        $packed = implode(
            array_map(
                static fn(string $key): string => (string) gzdecode((string) $store->content($key)),
                $store->keys('pointers/packed/'),
            ),
        );
        self::assertSame(implode("\n", array_slice($texts, 0, 4)) . "\n", $packed);
    }

    #[Test]
    public function a_pointer_that_a_former_key_has_signed_is_left_where_it_is(): void
    {
        $store = new FakeStore();
        $installation = self::installation($store);
        self::publishOnDays($installation, $store, runs: 5);
        $former = SigningKeys::read('dHJlbmR2YXVsdCB0ZXN0IHB1YmxpY2F0aW9ucyAwMSE');
        $pointer = Pointer::sign(
            $former,
            FakeStore::NAME,
            2,
            str_repeat('A', 43),
            1,
            null,
            time() - 2 * self::DAY,
        );
        $store->put('pointers/2.json', $pointer->text);
        $installation->execute('DELETE FROM pointers WHERE generation = 2');
        $result = $installation->run(['cron']);

        self::assertSame(ExitCode::Ok, $result->exitCode, $result->errors);
        self::assertSame($pointer->text, $store->content('pointers/2.json'));
        self::assertNull($store->content('pointers/1.json'));
    }

    #[Test]
    public function a_pack_that_is_damaged_keeps_the_pointers_of_that_day(): void
    {
        $store = new FakeStore();
        $installation = self::installation($store);
        self::publishOnDays($installation, $store, runs: 3);
        $store->put('pointers/packed/' . gmdate('Y-m-d', time() - 2 * self::DAY) . '.jsonl.gz', 'x');
        $result = $installation->run(['cron']);

        self::assertSame(ExitCode::SourceFailed, $result->exitCode);
        self::assertStringContainsString(
            'is damaged, so that no pointer of that day',
            $result->message('store_failed'),
        );
        self::assertNotNull($store->content('pointers/1.json'));
        self::assertSame(4, self::current($store)->generation);
    }

    /**
     * Publishes, half of the runs two days ago, the others yesterday, and the last one today.
     *
     * @return list<string> the pointers
     */
    private static function publishOnDays(Installation $installation, FakeStore $store, int $runs): array
    {
        self::awaitADayThatLasts();
        $keys = SigningKeys::read(FakeStore::SIGNING_KEY);
        $installation->run(['migrate']);
        $installation->run(['ingest', $installation->environment['SOURCES']]);
        [$texts, $previous] = [[], null];
        for ($run = 1; $run <= $runs; $run++) {
            $installation->run(['rank']);
            $days = $run === $runs ? 0 : ($run <= intdiv($runs, 2) ? 2 : 1);
            $pointer = Pointer::sign(
                $keys,
                FakeStore::NAME,
                $run,
                str_repeat('A', 43),
                1,
                $previous,
                time() - $days * self::DAY,
            );
            $store->put($pointer->key(), $pointer->text);
            $store->put('current.json', $pointer->text);
            $installation->execute(
                "INSERT OR IGNORE INTO publications (store) VALUES ('" .
                    FakeStore::ADDRESS .
                    "');" .
                    "INSERT INTO pointers VALUES ('" .
                    FakeStore::ADDRESS .
                    "', $run, $pointer->publishedAt, '$pointer->text')",
            );
            [$texts[], $previous] = [$pointer->text, $pointer];
        }

        return $texts;
    }

    /** Where a day turns within a test, its pointer of today is yesterday's. */
    private static function awaitADayThatLasts(): void
    {
        $left = self::DAY - (time() % self::DAY);
        $left > self::LONGEST_TEST_SECONDS ?: sleep($left);
    }
}
