<?php

declare(strict_types=1);

namespace TrendVault\Writer\Tests\Publication;

use PHPUnit\Framework\Attributes\Test;
use PHPUnit\Framework\Attributes\TestWith;
use TrendVault\Writer\ExitCode;
use TrendVault\Writer\Publication\Pointer;
use TrendVault\Writer\Publication\SigningKeys;
use TrendVault\Writer\Tests\Store\FakeStore;
use TrendVault\Writer\Tests\Support\Draws;
use TrendVault\Writer\Tests\Support\Installation;

final class TwoWritersTest extends PublicationTestCase
{
    private const string OTHER_KEY = 'dHJlbmR2YXVsdCB0ZXN0IHB1YmxpY2F0aW9ucyAwMSE';

    #[Test]
    public function of_two_writers_that_race_one_wins_and_the_other_says_so(): void
    {
        $store = new FakeStore();
        $first = self::installation($store);
        $first->run(['cron']);
        $second = self::copyOf($first);
        $refused = 0;
        for ($round = 0; $round < Draws::count(usual: 8, long: 100); $round++) {
            foreach ([$first, $second] as $index => $writer) {
                // Sometimes both have the same number, and sometimes one is ahead.
                for ($runs = 1 + ($round % (2 + $index)); $runs > 0; $runs--) {
                    $writer->run(['rank']);
                }
            }
            $running = [$first->start(['publish']), $second->start(['publish'])];
            $results = [$running[0]->wait(), $running[1]->wait()];
            foreach ($results as $result) {
                self::assertContains(
                    $result->exitCode,
                    [ExitCode::Ok, ExitCode::SourceFailed],
                    $result->errors,
                );
                if ($result->exitCode === ExitCode::SourceFailed) {
                    $refused++;
                    self::assertMatchesRegularExpression(
                        '/nother writer publishes/',
                        $result->message('store_failed'),
                    );
                }
            }
            self::assertNeverBackwards($store);
            self::assertWholeChain($store);
        }

        self::assertGreaterThan(0, $refused);
    }

    #[Test]
    #[TestWith(['current.json'])]
    #[TestWith(['bundle.json'])]
    public function a_writer_whose_pointer_is_followed_before_it_looks_says_that_another_one_publishes(
        string $pointer,
    ): void {
        $store = new FakeStore();
        $first = self::rendering($store, ['STORE_TIMEOUT_SECONDS' => '600']); // also while it is stopped
        $first->run(['cron']);
        $second = self::copyOf($first);
        foreach ([$first, $second, $second] as $writer) {
            $writer->run(['rank']);
        }
        $store->fail([['fault' => 'held', 'method' => 'PUT', 'key' => "^production/$pointer"]]);
        $before = count($store->requests());
        $running = $first->start(['publish']);
        while (!in_array("PUT $pointer", array_slice($store->requests(), $before), true)) {
            self::assertTrue($running->isRunning());
            usleep(1000);
        }
        posix_kill($running->id(), SIGSTOP);
        $store->release();
        $follower = $second->run(['publish']);
        posix_kill($running->id(), SIGCONT);
        $followed = $running->wait();

        self::assertSame(ExitCode::Ok, $follower->exitCode, $follower->errors);
        self::assertSame(ExitCode::SourceFailed, $followed->exitCode);
        self::assertStringContainsStringIgnoringCase(
            'another writer publishes',
            $followed->message('store_failed'),
        );
        self::assertSame(
            [3, 2],
            [self::current($store)->generation, self::current($store)->previousGeneration],
        );
        self::assertWholeChain($store);
    }

    #[Test]
    public function an_older_copy_of_the_database_never_overwrites_what_is_newer(): void
    {
        $store = new FakeStore();
        $installation = self::installation($store);
        $installation->run(['cron']);
        $older = self::copyOf($installation);
        $installation->run(['cron']);
        $installation->run(['cron']);
        $newest = (string) $store->content('current.json');
        $result = $older->run(['cron']);

        self::assertSame(ExitCode::SourceFailed, $result->exitCode);
        self::assertStringContainsString(
            'has generation 3, which this database did not',
            $result->message('store_failed'),
        );
        self::assertSame($newest, $store->content('current.json'));
        self::assertSame(2, $older->value('SELECT max(id) FROM generations'));
    }

    #[Test]
    public function an_older_pointer_that_somebody_put_back_is_replaced_by_the_newest_one(): void
    {
        $store = new FakeStore();
        $installation = self::installation($store);
        $installation->run(['cron']);
        $older = (string) $store->content('current.json');
        $installation->run(['cron']);
        $newest = (string) $store->content('current.json');
        foreach ([$older, null] as $found) {
            $found === null ? $store->delete('current.json') : $store->put('current.json', $found);
            $result = $installation->run(['publish']);

            self::assertSame(ExitCode::Ok, $result->exitCode, $result->errors);
            self::assertCount(1, $result->events('pointer_restored'));
            self::assertSame($newest, $store->content('current.json'));
        }
        $installation->run(['cron']);
        self::assertWholeChain($store);
    }

    #[Test]
    public function a_writer_that_knows_nothing_of_a_store_without_a_current_pointer_follows_the_newest_one(): void
    {
        $store = new FakeStore(page: 2);
        $installation = self::installation($store);
        for ($run = 0; $run < 5; $run++) {
            $installation->run(['cron']);
        }
        $store->delete('current.json');
        $installation->execute('DELETE FROM publications; DELETE FROM pointers');
        $result = $installation->run(['cron']);

        self::assertSame(ExitCode::Ok, $result->exitCode, $result->errors);
        self::assertSame(
            [6, 5],
            [self::current($store)->generation, self::current($store)->previousGeneration],
        );
        self::assertWholeChain($store);
    }

    #[Test]
    public function what_is_no_pointer_of_ours_is_left_as_it_is(): void
    {
        $store = new FakeStore();
        $installation = self::installation($store);
        $other = self::sign(self::OTHER_KEY, FakeStore::NAME);
        $found = [
            'not in PUBLISH_SIGNING_KEYS' => $other->text,
            'it is not a pointer' => '<html>',
            'another version' => '{"version":1,"generation":1}',
            'a store of another name' => self::sign(FakeStore::SIGNING_KEY, 'lists/staging')->text,
            'its signature is wrong' => str_replace(
                $other->text === '' ? '' : substr($other->text, strpos($other->text, '"kid":"') + 7, 8),
                SigningKeys::read(FakeStore::SIGNING_KEY)->kid,
                $other->text,
            ),
        ];
        foreach ($found as $expected => $text) {
            $store->put('current.json', $text);
            $result = $installation->run(['cron']);

            self::assertSame(ExitCode::SourceFailed, $result->exitCode);
            self::assertStringContainsString($expected, $result->message('store_failed'));
            self::assertSame($text, $store->content('current.json'));
            self::assertSame([], $store->keys('generations/'));
        }
    }

    #[Test]
    public function after_a_change_of_keys_the_chain_goes_on(): void
    {
        $store = new FakeStore();
        $installation = self::installation($store);
        $installation->run(['cron']);
        $installation->environment['PUBLISH_SIGNING_KEYS'] = self::OTHER_KEY . ', ' . FakeStore::SIGNING_KEY;

        self::assertSame(ExitCode::Ok, $installation->run(['cron'])->exitCode);
        $pointer = Pointer::read(
            (string) $store->content('current.json'),
            self::reader(keys: self::OTHER_KEY),
        );
        self::assertInstanceOf(Pointer::class, $pointer);
        self::assertSame(1, $pointer->previousGeneration);
    }

    #[Test]
    public function a_store_keeps_the_name_that_it_was_given(): void
    {
        $store = new FakeStore();
        $installation = self::installation($store, ['PUBLISH_NAME' => 'shop/lists']);
        $installation->run(['cron']);
        $pointer = Pointer::read((string) $store->content('current.json'), self::reader('shop/lists'));
        self::assertInstanceOf(Pointer::class, $pointer);

        $installation->environment['PUBLISH_NAME'] = 'shop/others';
        $result = $installation->run(['cron']);
        self::assertSame(ExitCode::SourceFailed, $result->exitCode);
        self::assertStringContainsString('a store of another name', $result->message('store_failed'));
        self::assertSame($pointer->text, $store->content('current.json'));

        $installation->environment['PUBLISH_NAME'] = 'two words';
        self::assertSame(ExitCode::Usage, $installation->run(['publish'])->exitCode);
    }

    private static function sign(string $keys, string $name): Pointer
    {
        return Pointer::sign(SigningKeys::read($keys), $name, 1, str_repeat('A', 43), 1, null, time());
    }

    private static function copyOf(Installation $installation): Installation
    {
        $copy = new Installation($installation->environment);
        copy($installation->database, $copy->database);

        return $copy;
    }
}
