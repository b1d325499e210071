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
                // Counts are up to 1 % apart, and what the first minutes' noise seemed to gain halves each hour.
                $noise = $kind === 'noise' && $index > 0 ? (24 * 4 * 0.005 * $views) / $span : 0.0;
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
    public function a_burst_that_goes_on_is_not_taken_back_by_one_count_that_falls(): void
    {
        $random = Draws::randomizer();
        for ($case = 0; $case < Draws::count(100, 5000); $case++) {
            $seconds = [300, 900, 1800, 3600][$random->getInt(0, 3)];
            $pace = $random->getInt(1000, 30_000);
            $gain = intdiv($pace, $random->getInt(4, 30));
            // What falls back after two counts of a burst may have been a spike.
            $dip = 20 + $random->getInt(5, 12);
            $depth = $random->getFloat(0.6, 1) * $random->getInt(2, $dip - 19) * $pace;
            [$at, $views] = [FixedClock::NOON - 1_000_000, $random->getInt(20, 200) * $pace];
            $published = $at - intdiv($seconds * $views, $gain);
            $expected = $velocity = null;
            for ($index = 0; $index <= $dip + 1; $index++) {
                $expected = self::observed($expected, $at, $views, $published);
                $read = $index === $dip ? (int) ($views - $depth) : $views;
                $velocity = self::observed($velocity, $at, $read, $published);
                $at += $seconds;
                $views += $index < 20 ? $gain : $pace;
            }
            $wanted = self::score($expected, $published, $at);

            self::assertEqualsWithDelta(
                $wanted,
                self::score($velocity, $published, $at),
                0.1 * $wanted,
                "case $case: " . Draws::hint(),
            );
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

    /** @return iterable<string, array{string, int}> counts with the minutes since the one before, and the last of the views that are believed */
    public static function beliefs(): iterable
    {
        yield 'views never fall, not by one' => ['120000 60+120 60=120119', 120_120];
        yield 'a gain of twice what the rate says, and what chance adds, counts' => [
            '120000 60+120 50+231',
            120_351,
        ];
        yield 'one above it waits' => ['120000 60+120 50+232', 120_120];
        yield 'where nothing came, one view counts' => ['0 60+0 60+1', 1];
        yield 'and two wait' => ['0 60+0 60+2', 0];
        yield 'unless the last count is older than 55 minutes' => ['120000 60+120 55+1500', 121_620];
        yield 'but not at 54' => ['120000 60+120 54+1500', 120_120];
        yield 'or than three hours, where it is more than a day brings' => [
            '120000 60+120 180+800000',
            920_120,
        ];
        yield 'but not a minute earlier' => ['120000 60+120 179+800000', 120_120];
        yield 'one that falls back part of the way only is a jump itself' => [
            '120000 9+18 9=1200000 9=240000',
            120_018,
        ];
        yield 'a jump that goes on at an eighth of its pace is of new views' => [
            '120000 9+18 9+100000 9+12500',
            232_518,
        ];
        yield 'one that goes on more slowly is not' => ['120000 9+18 9+100000 9+12499', 120_018];
        yield 'unless two days bring as many' => ['120000 10+20 10+5800 10+20', 125_840];
        yield 'and not what four bring' => ['120000 10+20 10+11600 10+20', 120_020];
        yield 'a second jump after one that was believed, and has not fallen back, is, too' => [
            '120000 60+120 180+800000 10+20000000 10+20',
            20_920_140,
        ];
        yield 'after two counts below it another level counts' => ['120000 60+120 60=90000 60+190', 90_190];
        yield 'where the first was the only one, not in a row either' => [
            '120000 9=60000 9=20000 9=60060',
            60_060,
        ];
        $twoSources = '120000 30+60 30=60000 30=120180';
        yield 'another one does when three counts went by without the first' => [
            "$twoSources 30=60095 30+95 30+95",
            60_285,
        ];
        yield 'but not after two' => ["$twoSources 30=60095 30+95", 120_180];
        yield 'nor before an hour' => ["$twoSources 19=60060 19+60 19+60", 120_180];
        yield 'then at the next' => ["$twoSources 20=60060 20+60 20+60", 60_180];
        $again = "$twoSources 30=60095 30+95 30+95 30=120420";
        yield 'the first counts again at its first count' => [$again, 120_420];
        yield 'and the other one does not' => ["$again 30=60400", 120_420];
        yield 'a replica that lags counts at its first count, once it is known' => [
            '120000 30+60 30=119000 30=120180 30=119100',
            119_100,
        ];
        $passed = static fn(int $counts, int $minutes): string => '120000 30+60 30=60000 10=120080' .
            str_repeat(" $minutes+" . 2 * $minutes, $counts - 1) .
            ' 30=62000 30+60';
        yield 'a level that was passed is forgotten after twelve counts and six hours: it is a new one' => [
            $passed(12, 33),
            62_060,
        ];
        yield 'but not within six hours' => [$passed(12, 31), 120_762];
        yield 'nor after eleven counts' => [$passed(11, 120), 122_480];
        $above = static fn(int $hours): string => '120000 60+120 60=900000 60=120360' .
            str_repeat(' 60+120', $hours - 1) .
            ' 50=906000 50+100';
        yield 'one above it is forgotten after two days' => [$above(48), 906_100];
        yield 'but not before' => [$above(47), 125_880];
        $four = '120000 30+60 30=60000 30=120180 30=40000 30=120300 30=20000 30=120420';
        yield 'three others are known' => ["$four 30=60400 30+60", 120_420];
        yield 'of a fourth the oldest is not' => ["$four 30=10000 30=120540 30=60460 30+60", 60_520];
        yield 'but the newest is' => ["$four 30=10000 30=120540 30=10060 30+60", 120_540];
        yield 'counts that lie more than 3 % apart are no noise' => [
            '120000 30+60 30=115000 30=120180 30=111000',
            120_180,
        ];
        yield 'a count an eighth of the way up to the first belongs to a level' => [
            "$twoSources 30=67000 30+60",
            120_180,
        ];
        yield 'and one above that to another' => ["$twoSources 30=68000 30+60", 68_060];
    }

    #[Test]
    #[DataProvider('beliefs')]
    public function which_counts_are_believed_is_what_the_documents_say(string $counts, int $believed): void
    {
        self::assertSame($believed, self::replay($counts)->views);
    }

    #[Test]
    public function a_first_count_that_was_twice_too_much_leaves_no_rate_that_was(): void
    {
        self::assertEqualsWithDelta(60.0, self::replay('120000 30=60000 30+30')->viewsPerHour, 1e-6);
    }

    #[Test]
    public function a_jump_is_believed_when_no_second_count_has_contradicted_it_for_55_minutes(): void
    {
        $velocity = self::replay('120000 60+120 20+1500');
        $jumpedAt = $velocity->lastObservedAt;

        self::assertSame($velocity, $velocity->at($jumpedAt + 3299));
        self::assertSame(121_620, $velocity->at($jumpedAt + 3300)->views);
        self::assertGreaterThan(800.0, $velocity->at($jumpedAt + 3300)->viewsPerHour);
    }

    #[Test]
    public function noise_of_three_percent_is_measured_over_a_day_until_twelve_counts_have_not_fallen(): void
    {
        $rates = [];
        [$counts, $views] = ['1000000', 1_000_000];
        for ($at = 1; $at <= 120; $at++) {
            $views += $at <= 72 ? 200 : 4000;
            $counts .= ' 60=' . ($views + [0, 14_000, -13_000, 6000][$at % 4]);
            $rates[$at] = self::replay($counts)->viewsPerHour;
        }

        foreach (array_slice($rates, 48, 24) as $rate) {
            self::assertEqualsWithDelta(200.0, $rate, 80.0);
        }
        self::assertEqualsWithDelta(3500.0, $rates[120], 200.0); // of 4,000 for two days
        self::assertNotNull(self::replay($counts . str_repeat(' 60+4000', 11))->levels);
        self::assertNull(self::replay($counts . str_repeat(' 60+20000', 13))->levels);
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

    /** @param string $counts the first one, and with the minutes before each others: `60+120` for a gain, `60=120` for a count */
    private static function replay(string $counts): Velocity
    {
        $words = explode(' ', $counts);
        $views = (int) array_shift($words);
        $velocity = Velocity::first(FixedClock::NOON, $views, FixedClock::NOON - 30 * $views);
        foreach ($words as $word) {
            [$minutes, $more] = preg_split('/[+=]/', $word) ?: [0, 0];
            $views = (int) $more + (str_contains($word, '+') ? $views : 0);
            $velocity = $velocity->next($velocity->lastObservedAt + 60 * (int) $minutes, $views);
        }

        return $velocity;
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
