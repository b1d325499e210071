<?php

declare(strict_types=1);

namespace TrendVault\Writer\Backtest;

/** What every formula said of a market on a day. Videos go by "#" and their id, which PHP might take for a number. */
final readonly class DayRanking
{
    /**
     * @param array<string, array<string, float>> $scores by formula and video
     * @param array<string, int> $views cumulative, at the end of the day
     */
    public function __construct(private array $scores, private array $views) {}

    /**
     * Asks about the videos that were seen on both days. One that a formula did not rank comes last.
     *
     * @return array<string, Quality> by formula; empty when no video was seen on both days
     */
    public function comparedWith(self $nextDay): array
    {
        $both = array_intersect_key($this->views, $nextDay->views);
        if ($both === []) {
            return [];
        }

        return array_map(
            static fn(array $scores): Quality => Quality::of(
                array_map(
                    static fn(string $video): array => [
                        'id' => substr($video, 1),
                        'score' => $scores[$video] ?? -INF,
                        'gained' => max(0, $nextDay->views[$video] - $both[$video]),
                    ],
                    array_keys($both),
                ),
            ),
            $this->scores,
        );
    }
}
