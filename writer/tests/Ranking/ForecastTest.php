<?php

declare(strict_types=1);

namespace TrendVault\Writer\Tests\Ranking;

use PHPUnit\Framework\Attributes\DataProvider;
use PHPUnit\Framework\Attributes\Test;
use PHPUnit\Framework\TestCase;
use TrendVault\Writer\Backtest\RankingQuality;
use TrendVault\Writer\Ranking\ChannelLimit;
use TrendVault\Writer\Ranking\Forecast;
use TrendVault\Writer\Ranking\Velocity;
use TrendVault\Writer\Ranking\Window;
use TrendVault\Writer\Tests\Support\FixedClock;
use TrendVault\Writer\Tests\Support\OpenApi;

final class ForecastTest extends TestCase
{
    /** A program in Python computed the cases, which shared no code with this one; powers of two may differ in the last bits. */
    private const float TOLERANCE = 1e-9;

    /** @param array<string, mixed> $case */
    #[Test]
    #[DataProvider('cases')]
    public function a_history_gives_the_velocity_and_the_scores_of_the_case(array $case): void
    {
        $velocity = self::replay($case['observations'], $case['published_at']);

        ['velocity' => $expected] = $case;
        self::assertSame($expected['first_observed_at'], $velocity->firstObservedAt);
        self::assertSame($expected['last_observed_at'], $velocity->lastObservedAt);
        self::assertSame($expected['observation_count'], $velocity->observationCount);
        self::assertSame($expected['views'], $velocity->views);
        self::assertClose($expected['views_per_hour'], $velocity->viewsPerHour);
        self::assertClose($expected['rated_at'], $velocity->ratedAt);
        self::assertSame(
            $expected['previous_views_per_hour'] === null,
            $velocity->previousViewsPerHour === null,
        );
        self::assertClose(
            $expected['previous_views_per_hour'] ?? 0.0,
            $velocity->previousViewsPerHour ?? 0.0,
        );
        foreach (Window::cases() as $window) {
            self::assertClose(
                $case['scores'][$window->value],
                Forecast::expectedViews($velocity, $case['published_at'], $window, $case['now']),
            );
        }
    }

    #[Test]
    public function the_version_and_the_constants_are_those_of_the_cases(): void
    {
        $file = self::file();

        self::assertSame($file['formula'], Forecast::VERSION);
        self::assertEquals($file['constants'], [
            'TAPER_HOURS' => Forecast::TAPER_HOURS,
            'ASSUMED_AGE_HOURS' => Velocity::ASSUMED_AGE_HOURS,
            'RATE_HALF_LIFE_HOURS' => Velocity::RATE_HALF_LIFE_HOURS,
            'MINIMUM_AGE_HOURS' => Velocity::MINIMUM_AGE_HOURS,
            'PREVIOUS_HALF_LIFE_HOURS' => Velocity::PREVIOUS_HALF_LIFE_HOURS,
        ]);
    }

    #[Test]
    public function a_video_that_is_not_seen_any_more_falls_with_time(): void
    {
        $velocity = Velocity::first(FixedClock::NOON, 100_000, null);
        $scores = array_map(
            static fn(int $hours): float => Forecast::expectedViews(
                $velocity,
                null,
                Window::Now,
                FixedClock::NOON + $hours * 3600,
            ),
            [0, 1, 24, 240],
        );
        $sorted = $scores;
        rsort($sorted);

        self::assertSame($sorted, $scores);
        self::assertCount(4, array_unique($scores));
    }

    #[Test]
    public function a_video_that_was_seen_before_its_publication_ages_from_then_on(): void
    {
        $ageAtNoon = FixedClock::NOON - Velocity::ageStartsAt(FixedClock::NOON - 60, FixedClock::NOON + 3600);

        self::assertSame(60, $ageAtNoon);
    }

    #[Test]
    public function the_windows_are_those_that_the_api_offers(): void
    {
        self::assertSame(
            OpenApi::parameter('/api/trending', 'window')['enum'],
            array_column(Window::cases(), 'value'),
        );
    }

    #[Test]
    public function the_first_page_is_as_long_as_the_default_limit_of_the_api(): void
    {
        $limit = OpenApi::parameter('/api/trending', 'limit')['default'];

        self::assertSame($limit, ChannelLimit::WITHIN_RANKS);
        self::assertSame($limit, RankingQuality::RANKS);
    }

    /** @return iterable<string, array{array<string, mixed>}> */
    public static function cases(): iterable
    {
        foreach (self::file()['cases'] as $case) {
            yield $case['name'] => [$case];
        }
    }

    /** @param non-empty-list<array{int, int}> $observations */
    private static function replay(array $observations, ?int $publishedAt): Velocity
    {
        [$at, $views] = array_shift($observations);
        $velocity = Velocity::first($at, $views, $publishedAt);
        foreach ($observations as [$at, $views]) {
            // As ObservationStore: an observation that is not newer does not change the velocity.
            $velocity = $at > $velocity->lastObservedAt ? $velocity->next($at, $views) : $velocity;
        }

        return $velocity;
    }

    /** @return array<string, mixed> */
    private static function file(): array
    {
        return json_decode(
            (string) file_get_contents(__DIR__ . '/forecast-cases.json'),
            true,
            flags: JSON_THROW_ON_ERROR,
        );
    }

    private static function assertClose(float $expected, float $actual): void
    {
        self::assertEqualsWithDelta($expected, $actual, max(abs($expected), 1.0) * self::TOLERANCE);
    }
}
