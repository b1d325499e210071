<?php

declare(strict_types=1);

namespace TrendVault\Writer\Explain;

use TrendVault\Writer\Ranking\ClickCounts;
use TrendVault\Writer\Ranking\Forecast;
use TrendVault\Writer\Ranking\RankableVideos;
use TrendVault\Writer\Ranking\TopLists;
use TrendVault\Writer\Ranking\Velocity;
use TrendVault\Writer\Ranking\Window;
use TrendVault\Writer\Time\Rfc3339;
use TrendVault\Writer\Time\SystemClock;

/** An explanation as text: the ranks, the forecast behind them, the view counts behind that. */
final readonly class ExplanationReport
{
    private const int HOUR_SECONDS = 3600;
    private const float FEW_IMPRESSIONS = 100.0;
    private const string UNDATED = 'time of publication unknown, assumed to be ';

    public function __construct(private Explanation $explanation) {}

    public function text(): string
    {
        $facts = $this->explanation;
        $publishedAt = Rfc3339::format($facts->generationAt);

        return implode("\n", [
            $facts->title,
            $facts->channel . ($facts->category === null ? '' : ", $facts->category"),
            ...$facts->removal === null ? [] : ["Removed from all lists: $facts->removal"],
            ...$facts->restriction === null ? [] : ["In no list of $facts->region: $facts->restriction"],
            ...$facts->lifted === null ? [] : ["Editors lifted: $facts->lifted"],
            ...self::ruleLines($facts),
            '',
            "In $facts->region, generation $facts->generation of $publishedAt, $facts->formula:",
            ...array_map($this->windowLine(...), Window::cases()),
            '',
            $this->unitLine(),
            ...$this->countLines(),
            ...$facts->channelLimit->withinRanks === 0
                ? []
                : [
                    sprintf(
                        '  limit     at most %d videos of a channel in the first %d',
                        $facts->channelLimit->videos,
                        $facts->channelLimit->withinRanks,
                    ),
                ],
            ...$this->limitedLines(),
            ...$this->visitorLines(),
            '',
            'Views, newest first:',
            ...$this->historyLines(),
        ]) . "\n";
    }

    /** @return list<string> */
    private static function ruleLines(Explanation $facts): array
    {
        if ($facts->rule === null) {
            return [];
        }
        ['factor' => $factor, 'reason' => $reason] = $facts->rule;
        $until = $facts->rule['review_until'] ?? null;
        $out = "In no list of $facts->region: ";
        $then = $facts->rule['enters'] ?? false ? 'then enters' : 'then stays out';

        return [
            match (true) {
                $until !== null => "{$out}it waits for an editor until " .
                    Rfc3339::format($until) .
                    " and $then",
                (float) $factor === 0.0 => "{$out}a rule keeps it out",
                default => "A rule multiplies its scores with $factor",
            } . ($reason === null ? '' : ": $reason"),
        ];
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
            $facts->parts->impressions > 0.0
                ? sprintf(
                    '  seen      %s impressions in the lists, and %s clicks (half-life %.0f h; what was before a burst counts less or not)',
                    number_format($facts->parts->impressions, 1),
                    number_format($facts->parts->clicks, 1),
                    ClickCounts::HALF_LIFE_HOURS,
                )
                : '  seen      by nobody in these lists yet',
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
            ...match (true) {
                $this->explanation->ranks === [] => [],
                $explored === [] => ['  explored  no: it has earned its ranks'],
                default => [
                    '  explored  above the rank that it has earned, to learn about it: ' .
                    implode(', ', $explored),
                ],
            },
        ];
    }

    private function windowLine(Window $window): string
    {
        $listed = $this->explanation->ranks[$window->value] ?? null;
        $score = $listed['score'] ?? $this->explanation->scoreWithoutRank($window);
        $expected = $listed['expected_views'] ?? null;

        return sprintf(
            '  %-5s %-18s %s%s%s%s',
            $window->value,
            $listed === null ? 'not in the list' : "rank {$listed['rank']} of {$listed['total']}",
            $score === null ? 'no score' : 'score ' . self::number($score),
            $expected === null
                ? ''
                : '; this place is expected to bring ' . self::number($expected) . ' clicks',
            $listed === null ? "; {$this->absence($window, $score)}" : '',
            ($listed['placed'] ?? null) === null ? '' : '; placed: ' . $listed['placed'],
        );
    }

    /** Why it is not in the list of a window, and how far from it. */
    private function absence(Window $window, ?float $score): string
    {
        $facts = $this->explanation;
        $velocity = $facts->velocity;
        $last = $facts->last[$window->value] ?? ['rank' => 0, 'score' => 0.0];
        $isCounted = $velocity->observationCount > 0;
        $isNew = max($velocity->firstObservedAt, $facts->cameAt) > $facts->generationAt; // a source may date its lines back
        $hadRoom = $last['rank'] < TopLists::MAX_RANKS;
        $isAbove = ($score ?? 0.0) > $last['score'];
        $isLimited =
            $facts->channelLimit->withinRanks >= $last['rank'] && // further down it takes nothing out
            $velocity->lastObservedAt <= $facts->generationAt;
        $oldest = (int) $facts->newestObservedAt - RankableVideos::MAX_UNOBSERVED_HOURS * self::HOUR_SECONDS;

        return match (true) {
            $facts->removal !== null => 'it was removed',
            $facts->restriction !== null => $facts->restriction,
            (float) ($facts->rule['factor'] ?? 1) === 0.0 => 'editors decided so',
            $isCounted && $velocity->lastObservedAt < $oldest => sprintf(
                'its views have not been counted for %d h',
                RankableVideos::MAX_UNOBSERVED_HOURS,
            ),
            !$isCounted && ($facts->publishedAt ?? 0) > $facts->generationAt + SystemClock::TOLERANCE_SECONDS
                => 'it is not published yet, and nobody counts it',
            $isNew, $hadRoom, $isAbove && !$isLimited => 'the list is older than what is known of it now',
            $isAbove => 'the limit by channel moves it behind the end of the list',
            default => sprintf(
                'the last rank, %d, has %s%s',
                $last['rank'],
                self::number($last['score']),
                ($facts->visitors->parts->impressions ?? INF) < self::FEW_IMPRESSIONS
                    ? '; it has too few impressions to rank by them'
                    : '',
            ),
        };
    }

    /** What the scores count. */
    private function unitLine(): string
    {
        $weight = $this->explanation->impressionWeight ?? 0.0;

        return match (true) {
            $weight === 0.0 => '  score     views expected in the window, from counts',
            $weight < 1.0 => sprintf(
                '  score     views expected from counts, and clicks that the first rank would bring (weight %.2f): their geometric mean',
                $weight,
            ),
            default => '  score     clicks that the first rank would bring in the window',
        };
    }

    /** @return list<string> of what was counted elsewhere, as far as it took part */
    private function countLines(): array
    {
        $facts = $this->explanation;
        if ($facts->velocity->observationCount === 0) {
            return ['  rate      nobody counts its views here', $this->ageLine()];
        }
        $before = $facts->velocity->previousViewsPerHour;

        return [
            sprintf(
                '  rate      %s views an hour, measured about %.1f h before',
                number_format($facts->velocity->viewsPerHour, 1),
                ($facts->generationAt - $facts->velocity->ratedAt) / self::HOUR_SECONDS,
            ),
            $before === null
                ? '  before    only seen once: the rate is the average of its life so far'
                : sprintf('  before    %s views an hour', number_format($before, 1)),
            $this->ageLine(),
            ...($facts->impressionWeight ?? 0.0) >= 1.0
                ? []
                : [
                    sprintf(
                        '  forecast  rate falls with the square of (age + %.0f h), so the older, the slower',
                        Forecast::TAPER_HOURS,
                    ),
                ],
        ];
    }

    private static function number(float $number): string
    {
        return number_format($number, $number < 100 ? 1 : 0);
    }

    private function ageLine(): string
    {
        $facts = $this->explanation;
        $weight = $facts->impressionWeight ?? 0.0;
        $isCounted = $facts->velocity->observationCount > 0;
        $byCounts = sprintf('%.0f h old when first counted', Velocity::ASSUMED_AGE_HOURS);
        $source = match (true) {
            $facts->publishedAt !== null => ($facts->publishedAt > $facts->ageStartsAt
                ? 'known before it was published, '
                : 'published ') . Rfc3339::format($facts->publishedAt),
            !$isCounted || $weight >= 1.0 => self::UNDATED . 'new when first seen',
            $weight > 0.0 => self::UNDATED . "$byCounts; by its clicks, new when first seen",
            default => self::UNDATED . $byCounts,
        };

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
