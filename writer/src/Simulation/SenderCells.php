<?php

declare(strict_types=1);

namespace TrendVault\Writer\Simulation;

/** Which clicks of an hour the edge counts: the rule of edge-worker/src/sender-cells.ts, which says why. */
final class SenderCells
{
    public const int CELLS = 64;
    private const int PRIOR_CLICKS = 8;

    /** @var array<string, VideoClicks> by video */
    private array $videos = [];
    /** @var array<string, true> by video */
    private array $suspects = [];
    /** The first clicks on each video. */
    private CellSums $first;

    public function __construct()
    {
        $this->first = new CellSums();
    }

    public function openHour(): void
    {
        $suspects = array_filter(
            $this->videos,
            fn(VideoClicks $video, string $id): bool => $this->isSuspect($id, $video) &&
                $video->isMostlyCut(),
            ARRAY_FILTER_USE_BOTH,
        );
        $this->suspects = array_map(static fn(): bool => true, $suspects);
        $this->videos = [];
        $this->first = new CellSums();
    }

    /** Whether one more click on a video counts, from a cell. */
    public function isCounted(string $videoId, int $cell): bool
    {
        $video = $this->videos[$videoId] ??= new VideoClicks();
        $inCell = $this->first->of($cell) - $video->first->of($cell);
        $inOthers = $this->first->sum - $video->first->sum - $inCell;
        $ratio = ($inCell + self::PRIOR_CLICKS / self::CELLS) / ($inOthers + self::PRIOR_CLICKS);
        $share = $ratio / (1 + $ratio);
        $likely = ($video->counted->sum - $video->counted->of($cell) + 1) * max($ratio, 1 / self::CELLS);
        $most = $this->isSuspect($videoId, $video)
            ? 2 * $video->told->least() * $share * self::CELLS
            : 1.3 + 1.5 * $likely + 2 * sqrt($likely);
        if ($video->isFirst()) {
            $video->first->add($cell);
            $this->first->add($cell);
        }
        $video->told->add($cell);
        if ($video->counted->of($cell) + 1 > $most) {
            return false;
        }
        $video->count($cell, $share);

        return true;
    }

    private function isSuspect(string $id, VideoClicks $video): bool
    {
        return isset($this->suspects[$id]) || $video->sharesTooOften();
    }
}

/** The clicks on a video in one hour. */
final class VideoClicks
{
    private const int FIRST_CLICKS = 32;

    public readonly CellSums $told;
    public readonly CellSums $counted;
    public readonly CellSums $first;
    /** Pairs of counted clicks in one cell, and as many as other videos have. */
    private int $shared = 0;
    private float $expected = 0.0;

    public function __construct()
    {
        [$this->told, $this->counted, $this->first] = [new CellSums(), new CellSums(), new CellSums()];
    }

    public function isFirst(): bool
    {
        return $this->told->sum < self::FIRST_CLICKS;
    }

    /** @param float $share of the cell in the first clicks on other videos */
    public function count(int $cell, float $share): void
    {
        $this->shared += $this->counted->of($cell);
        $this->expected += $this->counted->sum * $share;
        $this->counted->add($cell);
    }

    public function sharesTooOften(): bool
    {
        return $this->shared > 1.1 * $this->expected + 3 * sqrt($this->expected) + 6;
    }

    public function isMostlyCut(): bool
    {
        return $this->told->sum > 2 * $this->counted->sum + SenderCells::CELLS;
    }
}

/** Clicks by cell. */
final class CellSums
{
    /** @var array<int, int> */
    private array $cells;
    public int $sum = 0;

    public function __construct()
    {
        $this->cells = array_fill(0, SenderCells::CELLS, 0);
    }

    public function add(int $cell): void
    {
        $this->cells[$cell]++;
        $this->sum++;
    }

    public function of(int $cell): int
    {
        return $this->cells[$cell];
    }

    /** What a sixteenth of the cells does not exceed. */
    public function least(): int
    {
        $cells = $this->cells;
        sort($cells);

        return $cells[intdiv(SenderCells::CELLS, 16) - 1];
    }
}
