<?php

declare(strict_types=1);

namespace TrendVault\Writer\Tests\Pull;

use PHPUnit\Framework\Attributes\DataProvider;
use PHPUnit\Framework\Attributes\Test;
use TrendVault\Writer\Database\Database;
use TrendVault\Writer\ExitCode;
use TrendVault\Writer\Pull\Ceiling;
use TrendVault\Writer\Pull\Settlement;
use TrendVault\Writer\Tests\Support\NdjsonLine;

final class EdgePullTest extends PullTestCase
{
    #[Test]
    public function impressions_and_clicks_are_pulled_counted_and_ranked_by(): void
    {
        $this->holdOneMinute();

        $run = $this->installation->run(['cron']);

        self::assertSame(ExitCode::Ok, $run->exitCode, $run->errors);
        self::assertSame(
            ['impressions' => 19, 'clicks' => 4, 'lists' => 12],
            self::facts($run->events('pulled')[0]),
        );
        self::assertEquals(19, $run->events('impressions_counted')[0]['impressions']);
        self::assertSame(
            [
                ['video_id' => 'a', 'impressions' => 10.0, 'clicks' => 3.0],
                ['video_id' => 'b', 'impressions' => 9.0, 'clicks' => 1.0],
            ],
            $this->installation->rows(
                'SELECT video_id, impressions, clicks FROM impressions ORDER BY video_id',
            ),
        );
        self::assertSame($this->now - 1, $this->region()['settled_until']);
        self::assertSame([], $this->installation->rows('SELECT * FROM pulled_counts'));
    }

    #[Test]
    public function of_what_is_made_for_kids_nothing_is_counted_and_what_was_is_deleted(): void
    {
        $this->holdOneMinute();
        $this->installation->run(['cron']);
        $this->installation->execute(
            "INSERT INTO placed_ranks VALUES ('GB', 'day', '', 1, 'a', 0, 0, 0.1, 9.0, 1.0, 0.9)",
        );
        $line = ['id' => 'a', 'observed_at' => NdjsonLine::ago(1800), 'made_for_kids' => true];
        $this->installation->run(['ingest', '-'], NdjsonLine::of($line) . "\n");
        $counted = 'SELECT video_id, impressions, clicks FROM impressions';
        $before = [['video_id' => 'b', 'impressions' => 9.0, 'clicks' => 1.0]];
        self::assertSame($before, $this->installation->rows($counted));

        $shard = [
            'looks' => [FakeEdge::impressions($this->now + 2, [[1, 'a', 5, 5], [2, 'b', 5, 1]])],
            'served' => [FakeEdge::served($this->now + 2, 12)],
        ];
        $this->edge->hold(['GB-0' => ['last_closed' => $this->now + 5, ...$shard]]);
        $run = $this->installation->run(['cron']);

        self::assertSame(
            ['impressions' => 5, 'clicks' => 1, 'lists' => 12],
            self::facts($run->events('pulled')[0]),
        );
        self::assertSame(['b'], array_column($this->installation->rows($counted), 'video_id'));
        $placed = 'SELECT impressions, clicks, model_clicks FROM placed_ranks';
        self::assertSame(
            [['impressions' => 0.0, 'clicks' => 0.0, 'model_clicks' => 0.0]],
            $this->installation->rows($placed),
        );
    }

    #[Test]
    public function a_second_run_asks_behind_the_cursor_and_counts_nothing_twice(): void
    {
        $this->holdOneMinute();
        $this->installation->run(['cron']);
        $before = [$this->region(), $this->installation->rows('SELECT * FROM impressions')];

        self::assertSame(ExitCode::Ok, $this->installation->run(['cron'])->exitCode);

        self::assertSame($before, [$this->region(), $this->installation->rows('SELECT * FROM impressions')]);
        self::assertSame(
            [
                '/api/views/shards',
                '/api/views/minutes?shard=GB-0&limit=1000',
                '/api/views/shards',
                "/api/views/minutes?shard=GB-0&after=$this->now&limit=1000",
            ],
            $this->edge->requests(),
        );
    }

    #[Test]
    public function a_minute_is_counted_when_all_shards_of_its_region_have_told_it(): void
    {
        $minute = $this->now - 5;
        $shard = [
            'looks' => [FakeEdge::impressions($minute, [[1, 'a', 10, 1]])],
            'served' => [FakeEdge::served($minute, 10)],
        ];
        $this->edge->hold(['GB-0' => ['last_closed' => $this->now, ...$shard]], ['GB-0', 'GB-1']);

        $first = $this->installation->run(['cron']);
        self::assertSame(ExitCode::SourceFailed, $first->exitCode);
        self::assertStringContainsString(
            'does not answer for GB-1: status 503',
            $first->message('source_failed'),
        );
        self::assertSame([10, 0], [$this->region()['impressions'], $this->region()['settled_impressions']]);

        $this->edge->hold([
            'GB-0' => ['last_closed' => $this->now, ...$shard],
            'GB-1' => [
                'last_closed' => $this->now,
                'looks' => [FakeEdge::impressions($minute, [[1, 'b', 5, 1]])],
            ],
        ]);
        self::assertSame(ExitCode::Ok, $this->installation->run(['cron'])->exitCode);
        self::assertSame([15, 15], [$this->region()['impressions'], $this->region()['settled_impressions']]);
    }

    #[Test]
    public function two_hundred_shards_are_pulled_side_by_side(): void
    {
        $edge = new FakeEdge(['PHP_CLI_SERVER_WORKERS' => '4', 'IN_PAIRS' => '1']);
        $shards = [];
        foreach (['GB', 'DE', 'FR', 'PL'] as $region) {
            for ($number = 0; $number < 50; $number++) {
                $shards["$region-$number"] = [
                    'last_closed' => $this->now,
                    'looks' => [FakeEdge::impressions($this->now, [[1, 'a', 2, 1]])],
                ];
            }
        }
        $edge->hold($shards);
        $result = $this->installation->run(['ingest', "edge:$edge->url"]);

        self::assertSame(ExitCode::Ok, $result->exitCode, $result->errors);
        $sums = 'SELECT region, impressions, clicks FROM pull_regions ORDER BY region';
        self::assertSame(
            [['DE', 100, 50], ['FR', 100, 50], ['GB', 100, 50], ['PL', 100, 50]],
            array_map(array_values(...), $this->installation->rows($sums)),
        );
    }

    #[Test]
    public function with_regions_of_its_own_a_writer_asks_for_no_others(): void
    {
        $shards = ['GB-0' => ['last_closed' => $this->now], 'DE-0' => ['last_closed' => $this->now]];
        $this->edge->hold($shards);
        $this->installation->run(['cron']);
        $before = count($this->edge->requests());
        $this->installation->environment['REGIONS'] = 'DE,FR';

        self::assertSame(ExitCode::Ok, $this->installation->run(['cron'])->exitCode);

        self::assertSame(
            ['/api/views/shards', "/api/views/minutes?shard=DE-0&after=$this->now&limit=1000"],
            array_slice($this->edge->requests(), $before),
        );
    }

    #[Test]
    public function minutes_that_the_edge_deleted_are_said_loudly(): void
    {
        $this->edge->hold(['GB-0' => ['last_closed' => $this->now - 4000]]);
        $this->installation->run(['cron']);
        $this->edge->hold(['GB-0' => ['last_closed' => $this->now, 'first' => $this->now - 2880]]);

        $run = $this->installation->run(['cron']);

        self::assertStringContainsString(
            'The counts of 1119 minutes of GB-0 are lost',
            $run->message('minutes_lost'),
        );
        self::assertStringContainsString('1,119 minutes lost', $this->installation->run(['status'])->output);
    }

    #[Test]
    public function an_outage_of_49_hours_of_one_shard_does_not_hold_the_others_up_for_longer(): void
    {
        $minute = $this->now - 49 * 60 - 5;
        $this->edge->hold(
            [
                'GB-0' => [
                    'last_closed' => $this->now,
                    'looks' => [
                        FakeEdge::impressions($minute, [[1, 'a', 10, 1]]),
                        FakeEdge::impressions($this->now - 60, [[1, 'a', 7, 1]]),
                    ],
                    'served' => [FakeEdge::served($minute, 10)],
                ],
            ],
            ['GB-0', 'GB-1'],
        );

        $this->installation->run(['cron']);

        self::assertSame([17, 10], [$this->region()['impressions'], $this->region()['settled_impressions']]);
    }

    #[Test]
    public function a_clock_that_was_days_ahead_makes_nothing_late_that_comes_when_it_is_right_again(): void
    {
        $shard = fn(int $minute): array => [
            'last_closed' => $minute + 5,
            'looks' => [FakeEdge::impressions($minute, [[1, 'a', 5, 1]])],
            'served' => [FakeEdge::served($minute, 5)],
        ];
        $this->edge->hold(['GB-0' => $shard($this->now - 15)]);
        $this->installation->run(['cron']);
        $database = Database::openForWriting($this->installation->database);
        new Settlement($database, new Ceiling(1.0))->settle(time() + 400 * 86_400);
        $database->close();
        $this->edge->hold(['GB-0' => $shard($this->now - 5)]);

        $this->installation->run(['cron']);

        ['late_impressions' => $late, 'settled_impressions' => $settled] = $this->region();
        self::assertSame([0, 10], [$late, $settled]);
    }

    #[Test]
    #[DataProvider('refusals')]
    public function what_concerns_all_shards_is_asked_once_and_said(
        array $environment,
        string $fault,
        string $said,
    ): void {
        $this->holdOneMinute();
        $this->edge->fail([$fault]);
        $this->installation->environment = [...$this->installation->environment, ...$environment];

        $run = $this->installation->run(['cron']);

        self::assertSame(ExitCode::SourceFailed, $run->exitCode);
        self::assertStringContainsString($said, $run->message('source_failed'));
        self::assertLessThanOrEqual(1, count($this->edge->requests()));
        self::assertStringNotContainsString('MRZQXbCk', $run->errors);
    }

    #[Test]
    public function what_several_shards_are_refused_for_is_said_once(): void
    {
        $told = ['last_closed' => $this->now, 'looks' => []];
        $this->edge->hold(array_fill_keys(['GB-0', 'GB-1', 'GB-2'], $told));
        $this->edge->fail(['', 'status 404', 'status 404', 'status 404']);

        $message = $this->installation->run(['cron'])->message('source_failed');

        self::assertSame(1, substr_count($message, 'does not count impressions'), $message);
        self::assertGreaterThan(2, count($this->edge->requests()));
    }

    /** @return iterable<string, array{array<string, string>, string, string}> */
    public static function refusals(): iterable
    {
        $other = 'v1:fCCI2_EMaAU-TjZKChL9rMTAHZv17s9Mx_2HhIwOHjE';
        yield 'another key' => [
            ['VIEWS_KEYS' => $other],
            '',
            'refuses the signature of the request for the list of shards (tampered)',
        ];
        yield 'off' => [[], 'status 404', 'does not count impressions'];
        yield 'no key' => [['VIEWS_KEYS' => ''], '', 'VIEWS_KEYS is not set'];
        yield 'a short key' => [['VIEWS_KEYS' => 'v1:MRZQXbCk'], '', 'at least 32 random bytes'];
        yield 'no TLS' => [['SOURCES' => 'edge:http://lists.example'], '', 'http is for this machine only'];
        yield 'a path' => [['SOURCES' => 'edge:https://lists.example/x'], '', 'without a path'];
    }

    #[Test]
    public function a_second_edge_is_refused_and_so_is_a_shift_of_its_times(): void
    {
        $this->holdOneMinute();
        $edge = "edge:{$this->edge->url}";

        $two = $this->installation->run(['ingest', $edge, 'edge:https://lists.example']);
        self::assertSame(ExitCode::Usage, $two->exitCode);
        self::assertStringContainsString('a database pulls from one edge', $two->message());
        self::assertSame(
            ExitCode::Usage,
            $this->installation->run(['ingest', '--shift-to-now', $edge])->exitCode,
        );
        self::assertSame([], $this->edge->requests());
    }

    private function holdOneMinute(): void
    {
        $minute = $this->now - 5;
        $this->edge->hold([
            'GB-0' => [
                'last_closed' => $this->now,
                'looks' => [
                    FakeEdge::impressions($minute, [[1, 'a', 8, 2], [2, 'b', 7, 1]]),
                    FakeEdge::impressions($minute, [[1, 'a', 2, 1], [2, 'b', 2, 0]], generation: 2),
                ],
                'served' => [FakeEdge::served($minute, 12)],
            ],
        ]);
    }

    /**
     * @param array<string, mixed> $event
     * @return array<string, mixed>
     */
    private static function facts(array $event): array
    {
        return array_intersect_key($event, ['impressions' => 0, 'clicks' => 0, 'lists' => 0]);
    }
}
