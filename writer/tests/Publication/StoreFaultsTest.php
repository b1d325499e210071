<?php

declare(strict_types=1);

namespace TrendVault\Writer\Tests\Publication;

use PHPUnit\Framework\Attributes\DataProvider;
use PHPUnit\Framework\Attributes\Test;
use Random\Randomizer;
use Throwable;
use TrendVault\Writer\ExitCode;
use TrendVault\Writer\Tests\Store\FakeStore;
use TrendVault\Writer\Tests\Support\Draws;
use TrendVault\Writer\Tests\Support\Installation;

final class StoreFaultsTest extends PublicationTestCase
{
    /** More than the requests of a run: nine without a fault. */
    private const int REQUESTS = 12;

    private Randomizer $random;

    protected function setUp(): void
    {
        $this->random = Draws::randomizer();
    }

    protected function onNotSuccessfulTest(Throwable $failure): never
    {
        fwrite(
            STDERR,
            "\nStoreFaultsTest failed with " . Draws::hint() . "; set it to repeat the same faults.\n",
        );
        throw $failure;
    }

    #[Test]
    public function whatever_the_store_does_and_whenever_the_writer_dies_the_chain_is_whole_and_goes_forward(): void
    {
        $store = new FakeStore();
        $installation = self::installation($store, ['STORE_TIMEOUT_SECONDS' => '60']);
        $installation->run(['cron']);
        $store->fail([]);
        $runs = Draws::count(usual: 30, long: 400);
        $generations = 1;
        for ($run = 0; $run < $runs; $run++) {
            $store->fail($this->drawFaults());
            $installation->run(['rank']);
            self::assertSame(++$generations, $installation->value('SELECT max(id) FROM generations'));
            $this->random->getInt(0, 1) === 0
                ? self::assertIsExpected($installation->run(['publish'])->exitCode)
                : $this->killAtRequest($installation, $store);
            self::assertNeverBackwards($store);
            self::assertSame('ok', $installation->value('PRAGMA quick_check'));
        }
        $store->fail([]);
        $installation->run(['rank']);
        $result = $installation->run(['publish']);

        self::assertSame(ExitCode::Ok, $result->exitCode, $result->errors);
        self::assertSame($generations + 1, self::current($store)->generation);
        self::assertNeverBackwards($store);
        self::assertWholeChain($store);
    }

    #[Test]
    #[DataProvider('faults')]
    public function a_fault_at_any_request_costs_no_generation_and_the_next_run_catches_up(
        string $fault,
    ): void {
        $store = new FakeStore();
        $installation = self::installation($store, ['STORE_TIMEOUT_SECONDS' => '60']);
        $installation->run(['cron']);
        foreach (
            ['GET current', 'PUT generations', 'HEAD generations', 'PUT pointers', 'PUT current']
            as $request
        ) {
            [$method, $key] = explode(' ', $request);
            $store->fail([
                ['fault' => $fault, 'method' => $method, 'key' => "^production/$key", 'for_ever' => true],
            ]);
            $installation->run(['rank']);
            $result = $installation->run(['publish']);
            self::assertIsExpected($result->exitCode);
            $store->fail([]);
            $result = $installation->run(['publish']);

            self::assertSame(ExitCode::Ok, $result->exitCode, "after $fault at $request: $result->errors");
            self::assertSame(
                $installation->value('SELECT max(id) FROM generations'),
                self::current($store)->generation,
            );
            self::assertWholeChain($store);
        }
        self::assertNeverBackwards($store);
    }

    #[Test]
    public function a_pointer_that_was_not_made_the_current_one_is_so_with_the_next_run_at_another_second(): void
    {
        $store = new FakeStore();
        $installation = self::installation($store);
        $installation->run(['cron']);
        $store->fail([
            ['fault' => 'lying-etag', 'method' => 'GET', 'key' => '^production/current', 'for_ever' => true],
        ]);
        $installation->run(['rank']);
        self::assertSame(ExitCode::SourceFailed, $installation->run(['publish'])->exitCode);
        $store->fail([]);
        for ($then = time(); time() === $then; ) {
            usleep(1000); // the same pointer would have other bytes now
        }
        $result = $installation->run(['publish']);

        self::assertSame(ExitCode::Ok, $result->exitCode, $result->errors);
        self::assertSame(2, self::current($store)->generation);
        self::assertWholeChain($store);
        self::assertNull($installation->value('SELECT pending FROM publications'));
    }

    /** @return iterable<string, array{string}> */
    public static function faults(): iterable
    {
        foreach (FakeStore::FAULTS as $fault) {
            yield $fault => [$fault];
        }
    }

    #[Test]
    public function a_store_that_is_down_or_slow_is_given_up_in_time_and_the_reason_is_said(): void
    {
        $store = new FakeStore();
        $installation = self::installation($store, ['STORE_TIMEOUT_SECONDS' => '1']);
        $store->fail([['fault' => 'slow', 'for_ever' => true]]);
        $slow = $installation->run(['cron']);
        $installation->environment['S3_ENDPOINT_URL'] = 'http://127.0.0.1:1';
        $installation->environment['STORE_TIMEOUT_SECONDS'] = '60'; // more than all attempts take
        $down = $installation->run(['cron']);

        self::assertSame(
            [ExitCode::SourceFailed, ExitCode::SourceFailed],
            [$slow->exitCode, $down->exitCode],
        );
        self::assertStringContainsString(
            'took too long: 1 seconds were over',
            $slow->message('store_failed'),
        );
        self::assertStringContainsString('Could not connect', $down->message('store_failed'));
        self::assertSame(2, $installation->value('SELECT count(*) FROM generations'));
    }

    /** A refused request and a confirmed one that was none of both are found; nothing else ends a run. */
    private static function assertIsExpected(ExitCode $exitCode): void
    {
        self::assertContains($exitCode, [ExitCode::Ok, ExitCode::SourceFailed]);
    }

    /** @return list<array{fault: string, method?: string}> */
    private function drawFaults(): array
    {
        $rules = [];
        for ($count = $this->random->getInt(0, 4); $count > 0; $count--) {
            [$fault] = $this->random->pickArrayKeys(array_flip(FakeStore::FAULTS), 1);
            [$method] = $this->random->pickArrayKeys(['GET' => 1, 'PUT' => 1, 'HEAD' => 1], 1);
            $rules[] = ['fault' => (string) $fault, 'method' => $method];
        }
        $this->random->getInt(0, 3) > 0 ?: ($rules[] = ['fault' => 'slow', 'method' => 'PUT']);

        return $rules;
    }

    /** Kills a run after so many of its requests, or later. */
    private function killAtRequest(Installation $installation, FakeStore $store): void
    {
        $until = count($store->requests()) + $this->random->getInt(0, self::REQUESTS);
        $process = $installation->start(['publish']);
        while ($process->isRunning() && count($store->requests()) < $until) {
            usleep(200);
        }
        $process->kill();
    }
}
