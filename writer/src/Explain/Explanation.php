<?php

declare(strict_types=1);

namespace TrendVault\Writer\Explain;

use TrendVault\Writer\Database\Database;
use TrendVault\Writer\Ranking\ChannelLimit;
use TrendVault\Writer\Ranking\Forecast;
use TrendVault\Writer\Ranking\Velocity;
use TrendVault\Writer\Ranking\Window;
use TrendVault\Writer\Time\Rfc3339;

/** Why a video has its ranks in a region: the view counts, the forecast from them, the rank that follows. */
final readonly class Explanation
{
    private const int HOUR_SECONDS = 3600;
    private const int MAX_OBSERVATIONS = 10;

    private const string STATE =
        'SELECT v.title, v.channel, v.category, v.published_at, ' .
        Velocity::COLUMNS .
        ' FROM videos AS v JOIN velocity AS y ON y.video_id = v.id AND y.region = ?2 WHERE v.id = ?1';
    private const string RANKS = <<<'SQL'
    SELECT window, rank, score, (SELECT count(*) FROM trending WHERE generation = t.generation AND region = t.region AND window = t.window AND category = '') AS total
    FROM trending AS t WHERE generation = ?3 AND video_id = ?1 AND region = ?2 AND category = ''
    SQL;
    private const string HISTORY_FILE = __DIR__ . '/../../../db/queries/video-history.sql';

    /**
     * @param array<string, mixed> $video the columns of STATE
     * @param array<string, array{rank: int, score: float, total: int}> $ranks by window
     * @param list<array{region: string, observed_at: int, views: int}> $history newest first
     */
    private function __construct(
        private string $region,
        private array $video,
        private Velocity $velocity,
        private int $generation,
        private int $publishedAt,
        private array $ranks,
        private array $history,
    ) {}

    /** Null when the video was not observed in that region, or nothing was published yet. */
    public static function find(Database $database, string $region, string $videoId): ?self
    {
        $state = $database->rows(self::STATE, [$videoId, $region])[0] ?? null;
        $generation =
            $database->rows('SELECT id, published_at FROM generations ORDER BY id DESC LIMIT 1')[0] ?? null;

        return $state === null || $generation === null
            ? null
            : new self(
                $region,
                $state,
                Velocity::fromRow($state),
                $generation['id'],
                $generation['published_at'],
                array_column(
                    $database->rows(self::RANKS, [$videoId, $region, $generation['id']]),
                    null,
                    'window',
                ),
                $database->rows((string) file_get_contents(self::HISTORY_FILE), [
                    $videoId,
                    self::MAX_OBSERVATIONS,
                    $region,
                ]),
            );
    }

    public function text(): string
    {
        return implode("\n", [
            "{$this->video['title']}",
            "{$this->video['channel']}" .
            ($this->video['category'] === null ? '' : ", {$this->video['category']}"),
            '',
            "In $this->region, generation $this->generation of " .
            Rfc3339::format($this->publishedAt) .
            ', ' .
            Forecast::VERSION .
            ':',
            ...array_map($this->windowLine(...), Window::cases()),
            '',
            ...$this->reasons(),
            '',
            'Views, newest first:',
            ...$this->historyLines(),
        ]) . "\n";
    }

    private function windowLine(Window $window): string
    {
        $listed = $this->ranks[$window->value] ?? null;
        $score = number_format(
            $listed['score'] ??
                Forecast::expectedViews(
                    $this->velocity,
                    $this->video['published_at'],
                    $window,
                    $this->publishedAt,
                ),
        );
        $place = $listed === null ? 'not in the list' : "rank {$listed['rank']} of {$listed['total']}";

        return sprintf(
            '  %-5s %-18s %12s views expected in the next %d h',
            $window->value,
            $place,
            $score,
            $window->hours(),
        );
    }

    /** @return list<string> */
    private function reasons(): array
    {
        $velocity = $this->velocity;
        $bornAt = Forecast::bornAt($velocity->firstObservedAt, $this->video['published_at']);
        $age = ($this->publishedAt - $bornAt) / self::HOUR_SECONDS;
        $lag = ($this->publishedAt - $velocity->ratedAt) / self::HOUR_SECONDS;
        $born =
            $this->video['published_at'] === null
                ? sprintf(
                    'time of publication unknown, assumed to be %.0f h old when first seen',
                    Forecast::ASSUMED_AGE_HOURS,
                )
                : 'published ' . Rfc3339::format($this->video['published_at']);

        return [
            sprintf(
                '  rate      %s views an hour, measured about %.1f h before',
                number_format($velocity->viewsPerHour, 1),
                $lag,
            ),
            $velocity->previousViewsPerHour === null
                ? '  before    only seen once: the rate is the average of its life so far'
                : sprintf('  before    %s views an hour', number_format($velocity->previousViewsPerHour, 1)),
            sprintf('  age       %.1f h, %s', $age, $born),
            sprintf(
                '  forecast  rate falls with the square of (age + %.0f h), so the older, the slower',
                Forecast::TAPER_HOURS,
            ),
            sprintf(
                '  limit     at most %d videos of a channel in the first %d',
                ChannelLimit::MAX_VIDEOS,
                ChannelLimit::WITHIN_RANKS,
            ),
        ];
    }

    /** @return list<string> */
    private function historyLines(): array
    {
        $lines = [];
        foreach ($this->history as $index => ['observed_at' => $at, 'views' => $views]) {
            $earlier = $this->history[$index + 1] ?? null;
            $gain =
                $earlier === null
                    ? ''
                    : sprintf(
                        '  %+d in %.1f h',
                        $views - $earlier['views'],
                        ($at - $earlier['observed_at']) / self::HOUR_SECONDS,
                    );
            $lines[] = sprintf('  %s %14s%s', Rfc3339::format($at), number_format($views), $gain);
        }

        return $lines;
    }
}
