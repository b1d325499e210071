<?php

declare(strict_types=1);

namespace TrendVault\Writer\Tests\Commands;

use PHPUnit\Framework\Attributes\Test;
use PHPUnit\Framework\TestCase;
use Random\Randomizer;
use Symfony\Component\Console\Input\ArrayInput;
use Symfony\Component\Console\Output\BufferedOutput;
use TrendVault\Writer\Application;
use TrendVault\Writer\Cli\Log;
use TrendVault\Writer\ExitCode;
use TrendVault\Writer\Tests\Support\Draws;
use TrendVault\Writer\Tests\Support\FixedClock;
use TrendVault\Writer\Tests\Support\Installation;
use TrendVault\Writer\Tests\Support\NdjsonLine;
use TrendVault\Writer\Time\Rfc3339;

/** The whole program under a clock that jumps. */
final class WrongClockTest extends TestCase
{
    private const int DAY_SECONDS = 86_400;
    private const string STATES = 'SELECT * FROM velocity ORDER BY video_id, region';
    private const string HISTORY = 'SELECT * FROM observations ORDER BY observed_at, region, video_id';
    private const string LISTS = 'SELECT region, window, category, rank, video_id, score FROM trending WHERE generation = (SELECT max(id) FROM generations) ORDER BY region, window, category, rank';

    private Installation $installation;
    private FixedClock $clock;
    private BufferedOutput $log;
    private Randomizer $random;

    protected function setUp(): void
    {
        $this->installation = Installation::migrated();
        $this->clock = new FixedClock();
        $this->log = new BufferedOutput();
        $this->random = Draws::randomizer();
    }

    #[Test]
    public function what_a_run_under_a_wrong_clock_has_stored_is_repaired_as_if_it_had_not_been(): void
    {
        $jump = $this->random->getInt(1, 100) * self::DAY_SECONDS;
        $message = Draws::hint() . ", jump of $jump seconds";
        for ($minute = 0; $minute < 5; $minute++) {
            self::assertSame(ExitCode::Ok, $this->writer('cron'), $message);
            $this->clock->now += 60;
        }
        $this->writer('rank');
        [$states, $history, $lists] = $this->stored();

        $this->clock->now += $jump;
        self::assertSame(ExitCode::Ok, $this->writer('cron'), $message);
        self::assertNotSame($lists, $this->installation->fingerprint(self::LISTS), $message);
        $this->clock->now -= $jump;
        self::assertSame(ExitCode::ClockBackwards, $this->writer('rank'), $message);

        self::assertSame(ExitCode::Ok, $this->writer('repair'), $message);
        self::assertSame([$states, $history, $lists], $this->stored(), $message);
        self::assertCount(1, glob("{$this->installation->folder->path}/rejected/repair-*.ndjson"), $message);
        self::assertSame(ExitCode::Ok, $this->writer('cron'), $message);
    }

    #[Test]
    public function videos_with_an_observation_of_the_future_do_not_rank_and_do_not_make_the_others_leave(): void
    {
        $this->writer('cron');
        $videos = $this->installation->value("SELECT count(*) FROM velocity WHERE region = 'GB'");
        $this->installation->execute(
            sprintf(
                "UPDATE velocity SET last_observed_at = last_observed_at + %d WHERE region = 'GB' AND video_id IN (SELECT video_id FROM velocity WHERE region = 'GB' LIMIT 20)",
                5 * self::DAY_SECONDS,
            ),
        );

        self::assertSame(ExitCode::Ok, $this->writer('rank'));
        self::assertStringContainsString('20 videos do not rank', $this->log->fetch());
        self::assertSame(
            $videos - 20,
            $this->installation->value(
                "SELECT video_count FROM generation_regions WHERE region = 'GB' ORDER BY generation DESC LIMIT 1",
            ),
        );
    }

    #[Test]
    public function velocities_that_are_lost_are_rebuilt_from_the_history(): void
    {
        $this->writer('cron');
        $forecast =
            'SELECT video_id, region, last_observed_at, views, views_per_hour, rated_at FROM velocity ORDER BY 1, 2';
        [$states, $lists] = array_map($this->installation->fingerprint(...), [$forecast, self::LISTS]);
        $this->installation->execute('DELETE FROM velocity');

        self::assertSame(ExitCode::Ok, $this->writer('repair'));
        self::assertSame(
            [$states, $lists],
            array_map($this->installation->fingerprint(...), [$forecast, self::LISTS]),
        );
    }

    #[Test]
    public function what_is_new_since_a_time_of_the_future_is_new_since_the_repair(): void
    {
        $this->writer('cron');
        $tomorrow = $this->clock->now + self::DAY_SECONDS;
        $this->installation->execute("UPDATE velocity SET first_counted_at = $tomorrow");
        $this->installation->execute(
            "INSERT INTO catalogue (region, video_id, announced_at, first_announced_at) SELECT 'GB', id, $tomorrow, $tomorrow FROM videos",
        );
        $this->installation->execute(
            "UPDATE videos SET first_seen_at = $tomorrow, category_since = $tomorrow",
        );
        $this->installation->execute("INSERT INTO erased VALUES (zeroblob(32), $tomorrow)");

        self::assertSame(ExitCode::Ok, $this->writer('repair'));
        foreach (
            [
                'max(first_announced_at) FROM catalogue',
                'max(first_counted_at) FROM velocity',
                'max(first_seen_at) FROM videos',
                'max(category_since) FROM videos',
                'max(erased_at) FROM erased',
            ]
            as $newest
        ) {
            self::assertLessThan($tomorrow, $this->installation->value("SELECT $newest"), $newest);
        }
    }

    #[Test]
    public function a_repair_that_cannot_keep_the_observations_of_the_future_changes_nothing(): void
    {
        $this->writer('cron');
        $this->clock->now += self::DAY_SECONDS;
        $this->writer('cron');
        $this->clock->now -= self::DAY_SECONDS;
        $before = $this->stored();
        file_put_contents("{$this->installation->folder->path}/rejected", 'no folder');

        self::assertSame(ExitCode::SourceFailed, $this->writer('repair'));
        self::assertSame($before, $this->stored());
    }

    #[Test]
    public function a_clock_that_is_before_all_observations_repairs_nothing(): void
    {
        $this->writer('cron');
        $before = $this->stored();
        $this->clock->now = 0;

        self::assertSame(ExitCode::ClockBackwards, $this->writer('repair'));
        self::assertStringContainsString('so the clock is wrong', $this->log->fetch());
        self::assertSame($before, $this->stored());
    }

    #[Test]
    public function a_generation_of_the_future_is_published_only_when_somebody_says_so(): void
    {
        $this->writer('cron');
        $future = ['--at' => '2025-11-20T12:06:00Z'];

        self::assertSame(ExitCode::Usage, $this->writer('rank', $future));
        self::assertStringContainsString('Give --yes if it is meant', $this->log->fetch());
        self::assertSame(ExitCode::Ok, $this->writer('rank', ['--at' => '2025-11-20T12:04:00Z']));
        self::assertSame(ExitCode::Ok, $this->writer('rank', [...$future, '--yes' => true]));
    }

    /** @return list<string> */
    private function stored(): array
    {
        return array_map($this->installation->fingerprint(...), [self::STATES, self::HISTORY, self::LISTS]);
    }

    /** @return string a file with a line of now for each of 60 videos; none is late */
    private function views(): string
    {
        $lines = [];
        for ($video = 0; $video < 60; $video++) {
            $lines[] = [
                'id' => "video-$video",
                'region' => $video % 2 === 0 ? 'GB' : 'DE',
                'observed_at' => Rfc3339::format($this->clock->now - $this->random->getInt(0, 50)),
                'views' => $this->random->getInt(0, 1_000_000),
                'channel' => 'Channel ' . $video % 20,
            ];
        }

        return $this->installation->folder->write('views.ndjson', NdjsonLine::many($lines));
    }

    /** @param array<string, string|bool> $options */
    private function writer(string $command, array $options = []): ExitCode
    {
        $environment = ['DB_PATH' => $this->installation->database, 'SOURCES' => $this->views()];
        $application = new Application($environment, $this->clock, new Log($this->log, $this->clock, false));
        $input = new ArrayInput(['command' => $command, ...$options]);

        return ExitCode::from($application->run($input, new BufferedOutput()));
    }
}
