<?php

declare(strict_types=1);

namespace TrendVault\Writer\Backtest;

/** The scores of every formula in one region on one day. Keys are "#" and the video id: PHP would turn digits into integers. */
final readonly class DayRanking
{
    /**
     * @param array<string, array<string, float>> $scores by formula and video
     * @param array<string, int> $views cumulative, at the end of the day
     */
    public function __construct(private array $scores, private array $views) {}

    /**
     * Compares the videos that were seen on both days. A video that a formula did not rank comes last.
     *
     * @return array<string, RankingQuality> by formula; empty when no video was seen on both days
     */
    public function comparedWith(self $nextDay): array
    {
        $both = array_intersect_key($this->views, $nextDay->views);
        if ($both === []) {
            return [];
        }

        return array_map(
            static fn(array $scores): RankingQuality => RankingQuality::of(
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
