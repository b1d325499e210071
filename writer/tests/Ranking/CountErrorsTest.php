<?php

declare(strict_types=1);

namespace TrendVault\Writer\Tests\Ranking;

use PHPUnit\Framework\Attributes\DataProvider;
use PHPUnit\Framework\Attributes\Test;
use PHPUnit\Framework\TestCase;
use Random\Randomizer;
use TrendVault\Writer\ExitCode;
use TrendVault\Writer\Ranking\Forecast;
use TrendVault\Writer\Ranking\Velocity;
use TrendVault\Writer\Ranking\Window;
use TrendVault\Writer\Tests\Support\Draws;
use TrendVault\Writer\Tests\Support\FixedClock;
use TrendVault\Writer\Tests\Support\Installation;
use TrendVault\Writer\Tests\Support\NdjsonLine;

/** Scores of counts that err, beside those of the same counts without errors. */
final class CountErrorsTest extends TestCase
{
    private const int READINGS = 120;
    /** The first count that errs. */
    private const int ERROR = 30;

    #[Test]
    public function a_video_with_few_views_an_hour_stays_behind_whatever_its_counts_say(): void
    {
        $installation = Installation::migrated();
        $errors = [
            'clean' => static fn(int $at, int $views): int => $views,
            'honest' => static fn(int $at, int $views): int => 600 * $at,
            'zero' => static fn(int $at, int $views): int => $at === 20 ? 0 : $views,
            'twice' => static fn(int $at, int $views): int => $at === 20 ? 2 * $views : $views,
            'lag' => static fn(int $at, int $views): int => $at % 3 === 1 ? intdiv(99 * $views, 100) : $views,
            'two-sources' => static fn(int $at, int $views): int => $at % 2 === 1
                ? 1_500_000 + $views
                : $views,
            'correction' => static fn(int $at, int $views): int => $at >= 15 ? $views - 30_000 : $views,
            'noise' => static fn(int $at, int $views): int => $views + [400, -300, 100, -500, 250][$at % 5],
        ];
        $lines = [];
        for ($at = 0; $at < 30; $at++) {
            foreach ($errors as $id => $count) {
                $lines[] = NdjsonLine::of([
                    'id' => $id,
                    'channel' => "Channel of $id",
                    'observed_at' => NdjsonLine::ago(60 + 360 * (29 - $at)),
                    'views' => $count($at, 100_000 + $at),
                    'published_at' => NdjsonLine::ago(36_000_000),
                ]);
            }
        }

        self::assertSame(ExitCode::Ok, $installation->run(['ingest', '-'], implode("\n", $lines))->exitCode);
        self::assertSame(ExitCode::Ok, $installation->run(['rank'])->exitCode);
        $scores = array_column(
            $installation->rows(
                "SELECT video_id, score FROM trending WHERE window = 'day' AND category = ''",
            ),
            'score',
            'video_id',
        );
        $clean = $scores['clean'];
        foreach (['zero', 'twice', 'lag', 'two-sources', 'correction'] as $id) {
            self::assertEqualsWithDelta($clean, $scores[$id], 0.1 * $clean, $id);
        }
        self::assertLessThan($clean + (24 * 500) / 2.9, $scores['noise']); // 500 views in 2.9 hours
        self::assertGreaterThan($scores['noise'], $scores['honest']);
    }

    /** @return iterable<string, array{string}> */
    public static function kinds(): iterable
    {
        foreach (['dip', 'spike', 'lag', 'noise', 'two sources', 'correction', 'burst'] as $kind) {
            yield $kind => [$kind];
        }
    }

    #[Test]
    #[DataProvider('kinds')]
    public function from_the_second_count_after_an_error_on_the_score_is_that_without_errors(
        string $kind,
    ): void {
        $random = Draws::randomizer();
        for ($case = 0; $case < Draws::count(25, 2500); $case++) {
            $clean = self::clean($random, $kind);
            [$read, $errs] = self::withErrors($random, $kind, $clean);
            $published = $clean[0][0] - intdiv(3600 * $clean[0][1], max(1, $clean[0][2]));
            $expected = $velocity = null;
            $before = 0.0;
            foreach ($clean as $index => [$at, $views]) {
                $expected = self::observed($expected, $at, $views, $published);
                $velocity = self::observed($velocity, $at, $read[$index], $published);
                $wanted = self::score($expected->at($at), $published, $at);
                $score = self::score($velocity->at($at), $published, $at);
                $span = min(2, ($at - $clean[0][0]) / 3600);
                $noise = $kind === 'noise' && $index > 0 ? (24 * 3 * 0.005 * $views) / $span : 0.0;
                if (!($errs[$index] || ($errs[$index - 1] ?? false))) {
                    $message = "$kind, case $case, count $index: " . Draws::hint();
                    self::assertGreaterThanOrEqual(
                        0.9 * min($wanted, $before) - $noise - 24,
                        $score,
                        $message,
                    );
                    self::assertLessThanOrEqual(1.1 * max($wanted, $before) + $noise + 24, $score, $message);
                }
                $before = $wanted;
            }
        }
    }

    #[Test]
    public function a_jump_after_which_hardly_more_comes_is_of_new_views_if_a_day_may_bring_as_many(): void
    {
        $rateAfter = static function (int $hours): float {
            $velocity = null;
            for ($reading = 0; $reading < 40; $reading++) {
                $views = 100_000 + 20 * $reading + ($reading < 36 ? 0 : 120 * $hours);
                $at = FixedClock::NOON + 600 * $reading;
                $velocity = self::observed($velocity, $at, $views, FixedClock::NOON - 3_000_000);
            }

            return $velocity->viewsPerHour;
        };

        self::assertGreaterThan(300.0, $rateAfter(12));
        self::assertEqualsWithDelta(120.0, $rateAfter(96), 12.0);
    }

    #[Test]
    public function a_jump_that_a_second_count_contradicts_is_not_believed_by_waiting(): void
    {
        [$at, $velocity] = [FixedClock::NOON, null];
        foreach ([100_000, 100_010, 100_020, 900_000, 300_000] as $views) {
            $velocity = self::observed($velocity, $at += 600, $views, FixedClock::NOON - 3_600_000);
        }

        self::assertSame($velocity, $velocity->at($at + 4000));
    }

    #[Test]
    public function a_replica_that_was_away_for_hours_does_not_bring_back_the_rate_of_then(): void
    {
        $published = FixedClock::NOON - 360_000;
        foreach ([0.3, 1.6] as $phase) {
            [$views, $clean, $read] = [900_000.0, null, null];
            for ($reading = 0; $reading < 90; $reading++) {
                $at = FixedClock::NOON + 900 * $reading;
                $lags = in_array($reading, [40, 41, 88, 89], true);
                $clean = self::observed($clean, $at, (int) $views, $published);
                $read = self::observed($read, $at, (int) ($lags ? 0.99 * $views : $views), $published);
                $views += 2600 * (1 + 0.5 * cos($phase + ((2 * M_PI) / 96) * ($reading - 40)));
            }
            $wanted = self::score($clean, $published, $at);

            self::assertEqualsWithDelta($wanted, self::score($read, $published, $at), 0.1 * $wanted);
        }
    }

    #[Test]
    public function two_sources_that_are_read_by_chance_are_no_burst(): void
    {
        $random = Draws::randomizer();
        for ($case = 0; $case < Draws::count(60, 1500); $case++) {
            [$at, $views] = [FixedClock::NOON - 1_000_000, (float) $random->getInt(1000, 1_000_000)];
            $rate = $views * 10 ** $random->getFloat(-4, -1.5);
            $published = $at - (int) ((3600 * $views) / $rate);
            $factor = 10 ** $random->getFloat(-1, 2);
            [$share, $seconds] = [$random->getFloat(0.05, 0.95), [60, 600, 3600][$random->getInt(0, 2)]];
            $one = $other = $mixed = null;
            for ($index = 0; $index < self::READINGS; $index++) {
                [$first, $second] = [(int) $views, (int) ($factor * $views)];
                $read = $index === 0 || $random->getFloat(0, 1) < $share ? $first : $second;
                $one = self::observed($one, $at, $first, $published);
                $other = self::observed($other, $at, $second, $published);
                $mixed = self::observed($mixed, $at, $read, $published);
                $clean = max(self::score($one, $published, $at), self::score($other, $published, $at));
                self::assertLessThan(
                    60 * $clean + 100, // what lies between the sources is up to 100,000 times as much
                    self::score($mixed->at($at), $published, $at),
                    "case $case, count $index: " . Draws::hint(),
                );
                $at += $seconds;
                $views += ($rate * $seconds) / 3600;
            }
        }
    }

    /** @return list<array{int, int, int}> times, views, and views an hour */
    private static function clean(Randomizer $random, string $kind): array
    {
        [$at, $views] = [FixedClock::NOON - 1_000_000, (float) $random->getInt(1000, 1_000_000)];
        $rate = $views * 10 ** $random->getFloat(-4, -1.5);
        $seconds = [60, 300, 600, 900, 3600][$random->getInt(0, $kind === 'lag' ? 3 : 4)];
        if (in_array($kind, ['lag', 'correction'], true)) {
            $rate = min($rate, (0.003 * $views * 3600) / $seconds); // what the next counts make up for cannot be seen
        }
        [$phase, $wave] = [$random->getFloat(0, 6), $kind === 'noise' ? 0.0 : $random->getFloat(0, 0.25)];
        for ($clean = []; count($clean) < self::READINGS; ) {
            $bursts = $kind === 'burst' && count($clean) >= self::ERROR ? 50 : 1;
            $now = $bursts * $rate * (1 + $wave * sin($phase + ($at / 86_400) * 2 * M_PI));
            $clean[] = [$at, (int) $views, (int) $now];
            $step = $kind === 'burst' ? $random->getInt(1, 2 * $seconds) : $seconds;
            $at += $step;
            $views += ($now * $step) / 3600;
        }

        return $clean;
    }

    /**
     * @param list<array{int, int, int}> $clean
     * @return array{list<int>, list<bool>} the counts, and which of them err
     */
    private static function withErrors(Randomizer $random, string $kind, array $clean): array
    {
        [$read, $errs] = [array_column($clean, 1), array_fill(0, self::READINGS, false)];
        $share = $random->getFloat(0.05, 0.5);
        $factor = match ($kind) {
            'dip' => $random->getInt(0, 1) * $random->getFloat(0, 0.9),
            'spike' => $random->getFloat(1.5, 5),
            'lag' => 0.99,
            'two sources' => 10 ** $random->getFloat(0.2, 2),
            'correction' => $random->getFloat(0.5, 0.9),
            default => 1.0,
        };
        $until = self::ERROR + $random->getInt(1, 20);
        foreach ($read as $index => $views) {
            $isWrong = match ($kind) {
                'noise' => true,
                'burst' => false,
                'correction' => $index >= self::ERROR && $index < $until,
                'dip', 'spike' => $index >= self::ERROR && ($index - self::ERROR) % 12 === 0,
                default => $index >= self::ERROR &&
                    !($errs[$index - 1] && $errs[$index - 2]) && // or the first source is silent
                    $random->getFloat(0, 1) < $share,
            };
            if ($isWrong) {
                $read[$index] = (int) match ($kind) {
                    'noise' => $views * (1 + $random->getFloat(-0.005, 0.005)),
                    'correction' => $views - (1 - $factor) * $read[self::ERROR - 1],
                    default => $factor * $views,
                };
            }
            $errs[$index] = match ($kind) {
                'noise' => $index < 3,
                'correction' => $index === self::ERROR || $index === $until,
                // Two counts of the other source, one after the other, are a burst until the first one's comes.
                default => $isWrong && $kind !== 'lag',
            };
        }

        return [$read, $errs];
    }

    private static function observed(?Velocity $velocity, int $at, int $views, int $published): Velocity
    {
        return $velocity === null ? Velocity::first($at, $views, $published) : $velocity->next($at, $views);
    }

    private static function score(Velocity $velocity, int $published, int $at): float
    {
        return Forecast::expectedViews($velocity, $published, Window::Day, $at);
    }
}
