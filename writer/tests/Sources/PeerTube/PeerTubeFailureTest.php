<?php

declare(strict_types=1);

namespace TrendVault\Writer\Tests\Sources\PeerTube;

use PHPUnit\Framework\Attributes\DataProvider;
use PHPUnit\Framework\Attributes\Test;
use Symfony\Component\HttpClient\HttpClient;
use TrendVault\Writer\Observations\ObservationParser;
use TrendVault\Writer\Observations\RejectedLine;
use TrendVault\Writer\Sources\PeerTube\Api;
use TrendVault\Writer\Sources\PeerTube\InstanceUrl;
use TrendVault\Writer\Sources\PlatformFailure;
use TrendVault\Writer\Tests\Support\Draws;
use TrendVault\Writer\Tests\Support\FixedClock;

final class PeerTubeFailureTest extends PeerTubeTestCase
{
    #[Test]
    #[DataProvider('failures')]
    public function an_answer_that_is_not_as_documented_is_a_failure_that_says_what_it_was(
        string $fault,
        string $message,
    ): void {
        $this->instance->hold([['number' => 1]], ['always' => $fault]);

        self::assertSame([], $this->read('#DE'));
        self::assertStringContainsString(
            "Cannot read {$this->instance->host}: $message",
            (string) $this->failure,
        );
    }

    /** @return iterable<string, array{string, string}> */
    public static function failures(): iterable
    {
        $notDocumented = 'its answer is not the documented JSON';
        yield 'a fault of its own' => ['status 500', 'it answers 500.'];
        yield 'something else at this address' => ['status 404', 'it answers 404, so there is no PeerTube'];
        yield 'too many requests' => ['status 429 after 7', 'it answers 429, and asks for a pause of 7 s'];
        yield 'HTML' => ['html', $notDocumented];
        yield 'half of it' => ['truncated', $notDocumented];
        yield 'nothing' => ['empty', $notDocumented];
        yield 'an object in place of the list' => ['no list', $notDocumented];
        yield 'more bytes than it may have' => ['huge', 'it does not answer: the answer is larger than'];
        yield 'more bytes than it may have, packed' => ['bomb', $notDocumented];
        yield 'lists that would use up the memory' => ['brackets', $notDocumented];
        yield 'a redirect to another machine' => ['redirect', 'it redirects (status 302)'];
        yield 'a connection that breaks' => ['disconnected', 'it does not answer'];
        yield 'not modified, without a reason' => ['not modified', 'it answers 304'];
    }

    #[Test]
    public function an_answer_without_an_end_takes_as_long_as_it_may(): void
    {
        $this->instance->hold([['number' => 1]], ['always' => 'endless']);
        $instance = InstanceUrl::read($this->instance->source);

        $this->expectException(PlatformFailure::class);
        $this->expectExceptionMessage('it does not answer');
        new Api(HttpClient::create(), $instance)->page(0, null, seconds: 1.0);
    }

    #[Test]
    public function an_instance_that_lists_the_same_videos_again_and_again_has_an_end(): void
    {
        $this->instance->hold([], ['made' => 100, 'always' => 'same again']);

        self::assertCount(200, $this->read('#DE'));
        self::assertSame([0, 100], $this->instance->starts());
    }

    #[Test]
    public function an_instance_speaks_for_itself_only(): void
    {
        foreach (['other host', 'not local'] as $fault) {
            $this->instance->hold([['number' => 1]], ['always' => $fault]);

            self::assertSame([], $this->read('#DE'), $fault);
            self::assertStringContainsString('lists no video of its own', (string) $this->failure);
        }
        $this->instance->hold([['number' => 1]], ['always' => 'other pictures']);
        self::assertArrayNotHasKey('thumb_base', $this->read('#DE')[0]);
    }

    #[Test]
    public function a_pause_that_is_asked_for_is_kept_and_the_next_run_goes_on_behind_it(): void
    {
        $this->instance->hold([], ['made' => 150]);
        $this->instance->fail(['', 'status 429 after 7']);

        self::assertCount(100, $this->read('#DE'));
        self::assertSame(FixedClock::NOON + 7, $this->schedule()->retryAt(FixedClock::NOON));
        self::assertCount(50, $this->read('#DE'));
        self::assertNull($this->failure);
    }

    #[Test]
    public function an_instance_that_fails_is_left_alone_for_longer_and_longer_and_is_then_read_from_its_start(): void
    {
        $this->instance->hold([], ['made' => 150, 'always' => 'status 500']);
        $waits = [];
        for ($run = 0; $run < 2; $run++) {
            $this->read('#DE');
            $waits[] = $this->schedule()->dueAt(FixedClock::NOON) - FixedClock::NOON;
        }

        self::assertSame([0, 100, 0, 100], $this->instance->starts());
        self::assertLessThanOrEqual(60, $waits[0]);
        self::assertGreaterThanOrEqual(60, $waits[1]);
        $this->instance->hold([], ['made' => 150]);
        self::assertCount(150, $this->read('#DE'));
    }

    #[Test]
    public function a_page_that_always_fails_hides_no_other_one_however_many_do(): void
    {
        $random = Draws::randomizer();
        for ($round = Draws::count(usual: 5, long: 200); $round > 0; $round--) {
            $failing = array_filter(range(1, 5), static fn(): bool => $random->getInt(0, 1) === 1);
            $failing = $failing === [] ? [$random->getInt(0, 5)] : array_values($failing);
            $this->instance->hold([], ['made' => 520, 'failing' => $failing, 'limit' => 1_000_000]);
            [$ids, $hasFailed] = [[], false];
            // The first run may begin behind the pages that failed in the last round.
            for ($run = 0; $run < 4; $run++) {
                $ids += array_fill_keys(
                    array_column($this->read('#DE', mostPages: 6, seconds: 600.0), 'id'),
                    true,
                );
                $hasFailed = $hasFailed || $this->failure !== null;
            }
            self::assertTrue($hasFailed, Draws::hint());

            $missing = 100 * count($failing) - (in_array(5, $failing, true) ? 80 : 0);
            self::assertCount(520 - $missing, $ids, Draws::hint() . ' ' . json_encode($failing));
        }
    }

    #[Test]
    public function an_instance_that_begins_to_fail_midway_is_asked_behind_that_and_then_from_its_start(): void
    {
        $this->instance->hold([], ['made' => 520, 'limit' => 1_000_000]);
        $this->instance->fail(['', '', 'status 500', 'html', 'status 502', 'empty']);
        $runs = [];
        for ($run = 0; $run < 4; $run++) {
            $before = count($this->instance->starts());
            $this->read('#DE', mostPages: 6, seconds: 600.0);
            $runs[] = array_slice($this->instance->starts(), $before);
        }

        self::assertSame(
            [[0, 100, 200, 300], [400, 500], [0, 100, 200, 300, 400, 500], [0, 100, 200, 300, 400, 500]],
            $runs,
        );
    }

    #[Test]
    public function the_rate_limit_that_PeerTube_documents_is_kept_to_by_the_pause_it_asks_for(): void
    {
        $this->instance->hold([], ['made' => 250, 'limit' => 2, 'limited_seconds' => 600]);

        self::assertCount(200, $this->read('#DE'));
        self::assertStringContainsString('it answers 429', (string) $this->failure);
        self::assertGreaterThan(FixedClock::NOON, $this->schedule()->retryAt(FixedClock::NOON));
    }

    #[Test]
    public function whatever_it_answers_lines_are_of_its_own_videos_and_all_come_when_it_is_well_again(): void
    {
        $random = Draws::randomizer();
        for ($round = Draws::count(usual: 15, long: 1000); $round > 0; $round--) {
            $this->clock->now += 7200;
            $faults = array_map(
                static fn(): string => [...FakePeerTube::FAULTS, '', ''][
                    $random->getInt(0, count(FakePeerTube::FAULTS) + 1)
                ],
                range(1, $random->getInt(1, 3)),
            );
            $this->instance->hold([], ['made' => $random->getInt(0, 250), 'limit' => 1_000_000]);
            $this->instance->fail($faults);
            foreach ($this->read('#DE') as $line) {
                $this->expectOwn($line);
            }
        }
        $this->instance->fail([]);
        $this->instance->hold([], ['made' => 230, 'limit' => 1_000_000]);
        for ($run = 0; $run < 2; $run++) {
            $this->clock->now += 90_000;
            $lines = $this->read('#DE');
        }

        self::assertNull($this->failure, Draws::hint());
        self::assertCount(230, array_unique(array_column($lines, 'id')), Draws::hint());
    }

    /** @param array<string, mixed> $line */
    private function expectOwn(array $line): void
    {
        self::assertStringEndsWith("~{$this->instance->host}", $line['id'], Draws::hint());
        foreach (
            ['thumb_base' => "http://{$this->instance->host}/", 'url' => "https://{$this->instance->host}/"]
            as $name => $start
        ) {
            isset($line[$name]) && self::assertStringStartsWith($start, $line[$name], Draws::hint());
        }
        if (isset($line['channel'])) {
            self::assertStringEndsWith(" ({$this->instance->host})", $line['channel'], Draws::hint());
        }
        try {
            new ObservationParser(['DE' => true], $this->clock->now)->parse(
                json_encode($line, JSON_THROW_ON_ERROR),
            );
        } catch (RejectedLine) {
            // Is reported with its reason, and the lines around it are stored.
        }
    }
}
