<?php

declare(strict_types=1);

namespace TrendVault\Writer\Tests\Pull;

use PHPUnit\Framework\Attributes\Test;
use TrendVault\Writer\ExitCode;

/** What an edge may tell at most: bytes of an answer, and impressions for each list that it served. */
final class PullBoundsTest extends PullTestCase
{
    #[Test]
    public function an_answer_that_is_too_large_is_a_failure_and_not_the_end(): void
    {
        $impressions = array_map(
            fn(int $i): array => FakeEdge::impressions(
                $this->now,
                [[1, str_repeat('x', 64), 1, 1]],
                str_repeat('y', 390),
                $i,
            ),
            range(1, 20_000),
        );
        $this->edge->hold(['GB-0' => ['last_closed' => $this->now, 'looks' => $impressions]]);

        $run = $this->installation->run(['cron']);

        self::assertSame(ExitCode::SourceFailed, $run->exitCode);
        self::assertStringContainsString('larger than 8388608 bytes', $run->message('source_failed'));
    }

    #[Test]
    public function an_answer_of_almost_the_largest_size_fits_into_memory(): void
    {
        $ranks = array_map(static fn(int $rank): array => [$rank, "v$rank", 1, 1], range(1, 9000));
        $impressions = array_map(
            fn(int $i): array => FakeEdge::impressions($this->now, $ranks, "c$i"),
            range(1, 40),
        );
        self::assertGreaterThan(6_000_000, strlen(json_encode($impressions)));
        $this->edge->hold(['GB-0' => ['last_closed' => $this->now, 'looks' => $impressions]]);

        $run = $this->installation->run(['ingest', "edge:{$this->edge->url}"]);

        self::assertSame(ExitCode::Ok, $run->exitCode, $run->errors);
        self::assertSame(360_000, $this->region()['impressions']);
    }

    #[Test]
    public function a_flood_is_scaled_down_to_the_ceiling_over_the_minutes_that_share_lists_and_status_says_how_much(): void
    {
        $minute = $this->now - 5;
        $this->edge->hold([
            'GB-0' => [
                'last_closed' => $this->now,
                'looks' => [
                    FakeEdge::impressions($minute, [[1, 'a', 10, 4], [2, 'b', 8, 1]]),
                    FakeEdge::impressions($minute + 1, [
                        [1, 'a', 200, 100],
                        [2, 'b', 100, 0],
                        [25, 'c', 5, 1],
                    ]),
                ],
                'served' => [FakeEdge::served($minute - 1, 10), FakeEdge::served($minute, 10, 24)],
            ],
        ]);

        $this->installation->run(['cron']);

        $status = json_decode($this->installation->run(['status', '--json'])->output, true)['pulled'];
        self::assertSame([323, 106, 20], [$status['impressions'], $status['clicks'], $status['lists']]);
        self::assertEquals(
            [18 + 30 + 5, 5 + 10 + 1],
            [$status['counted_impressions'], $status['counted_clicks']],
        );
        self::assertEqualsWithDelta(1 - (53 + 16) / 429, $status['cut_share'], 1e-6);
        self::assertNull($status['oldest_unsettled_at']);
        self::assertStringContainsString(
            'Pulled      323 impressions and 106 clicks of 20 lists; the ceiling cut 83.9 %; all settled',
            $this->installation->run(['status'])->output,
        );
    }

    #[Test]
    public function lists_served_before_the_time_in_which_messages_are_taken_allow_nothing(): void
    {
        $minute = $this->now - 5;
        $this->edge->hold([
            'GB-0' => [
                'last_closed' => $this->now,
                'looks' => [
                    FakeEdge::impressions($minute, [[1, 'a', 10, 4]]),
                    FakeEdge::impressions($minute - 1, [[1, 'a', 10, 4]]),
                ],
                'served' => [FakeEdge::served($minute - 44, 10)],
            ],
        ]);

        $this->installation->run(['cron']);

        self::assertEquals(
            [10, 20],
            [$this->region()['counted_impressions'], $this->region()['settled_impressions']],
        );
    }
}
