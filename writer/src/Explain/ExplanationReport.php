<?php

declare(strict_types=1);

namespace TrendVault\Writer\Explain;

use TrendVault\Writer\Ranking\ClickCounts;
use TrendVault\Writer\Ranking\Forecast;
use TrendVault\Writer\Ranking\Window;
use TrendVault\Writer\Time\Rfc3339;

/** An explanation as text: the ranks, the forecast behind them, the view counts behind that. */
final readonly class ExplanationReport
{
    private const int HOUR_SECONDS = 3600;

    public function __construct(private Explanation $explanation) {}

    public function text(): string
    {
        $facts = $this->explanation;
        $publishedAt = Rfc3339::format($facts->generationAt);

        return implode("\n", [
            $facts->title,
            $facts->channel . ($facts->category === null ? '' : ", $facts->category"),
            ...$facts->removal === null ? [] : ["Removed from all lists: $facts->removal"],
            '',
            "In $facts->region, generation $facts->generation of $publishedAt, $facts->formula:",
            ...array_map($this->windowLine(...), Window::cases()),
            '',
            $this->rateLine(),
            $this->earlierRateLine(),
            $this->ageLine(),
            sprintf(
                '  forecast  rate falls with the square of (age + %.0f h), so the older, the slower',
                Forecast::TAPER_HOURS,
            ),
            sprintf(
                '  limit     at most %d videos of a channel in the first %d',
                $facts->channelLimit->videos,
                $facts->channelLimit->withinRanks,
            ),
            ...$this->limitedLines(),
            ...$this->visitorLines(),
            '',
            'Views, newest first:',
            ...$this->historyLines(),
        ]) . "\n";
    }

    /** @return list<string> */
    private function limitedLines(): array
    {
        $lines = [];
        foreach ($this->explanation->ranks as $window => ['rank' => $rank]) {
            $limited = $this->explanation->limited[$window] ?? [];
            if (array_key_exists($rank, $limited)) {
                $lines[] =
                    "            without it, in $window: " .
                    ($limited[$rank] === null ? 'beyond the end of the list' : "rank {$limited[$rank]}");
            }
        }

        return $lines;
    }

    /** @return list<string> */
    private function visitorLines(): array
    {
        $facts = $this->explanation->visitors;
        if ($facts === null) {
            return [];
        }
        $explored = $facts->exploredWindows;

        return [
            sprintf(
                '  seen      %s impressions in the lists, and %s clicks (half-life %.0f h); weight against the forecast %.2f',
                number_format($facts->parts->impressions, 1),
                number_format($facts->parts->clicks, 1),
                ClickCounts::HALF_LIFE_HOURS,
                $facts->parts->weight,
            ),
            sprintf(
                '  clicks    of those who see it, %.2f %% open it: %.2f %% expected before any impression, %.2f %% if it is one deviation better',
                100 * $facts->parts->mean,
                100 * $facts->parts->prior,
                100 * $facts->parts->upper,
            ),
            ...$facts->parts->isHeld
                ? [
                    '  held      impressions say more than views elsewhere let them: no more than this multiple counts',
                ]
                : [],
            '  explored  ' .
            ($explored === []
                ? 'no: it has earned its ranks'
                : 'above the rank that it has earned, to learn about it: ' . implode(', ', $explored)),
        ];
    }

    private function windowLine(Window $window): string
    {
        $facts = $this->explanation;
        $listed = $facts->ranks[$window->value] ?? null;
        $score =
            $listed['score'] ??
            Forecast::expectedViews($facts->velocity, $facts->ageStartsAt, $window, $facts->generationAt);

        return sprintf(
            '  %-5s %-18s %12s views expected in the next %d h',
            $window->value,
            $listed === null ? 'not in the list' : "rank {$listed['rank']} of {$listed['total']}",
            number_format($score, $score < 100 ? 1 : 0),
            $window->hours(),
        );
    }

    private function rateLine(): string
    {
        $facts = $this->explanation;

        return sprintf(
            '  rate      %s views an hour, measured about %.1f h before',
            number_format($facts->velocity->viewsPerHour, 1),
            ($facts->generationAt - $facts->velocity->ratedAt) / self::HOUR_SECONDS,
        );
    }

    private function earlierRateLine(): string
    {
        $rate = $this->explanation->velocity->previousViewsPerHour;

        return $rate === null
            ? '  before    only seen once: the rate is the average of its life so far'
            : sprintf('  before    %s views an hour', number_format($rate, 1));
    }

    private function ageLine(): string
    {
        $facts = $this->explanation;
        $source =
            $facts->publishedAt === null
                ? sprintf(
                    'time of publication unknown, assumed to be %.0f h old when first seen',
                    Forecast::ASSUMED_AGE_HOURS,
                )
                : 'published ' . Rfc3339::format($facts->publishedAt);

        return sprintf(
            '  age       %.1f h, %s',
            ($facts->generationAt - $facts->ageStartsAt) / self::HOUR_SECONDS,
            $source,
        );
    }

    /** @return list<string> */
    private function historyLines(): array
    {
        $history = $this->explanation->history;
        $lines = [];
        foreach ($history as $index => ['observed_at' => $at, 'views' => $views]) {
            $earlier = $history[$index + 1] ?? null;
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
