<?php

declare(strict_types=1);

namespace TrendVault\Writer\Simulation;

/** What of an hour's messages the edge counts: the rule of edge-worker/src/sender-cells.ts, which says why. */
final class SenderCells
{
    public const int CELLS = 64;
    private const int FIRST_CLICKS = 32;
    private const int PRIOR_CLICKS = 8;

    /** @var array<string, CellCounts> of clicks by video, and of messages by list and depth */
    private array $known = [];
    /** The first clicks on each video. */
    private CellSums $first;
    private CellSums $clicks;
    private CellSums $messages;
    private int $hour = 0;
    private int $suspectUntil = -2;

    public function __construct()
    {
        [$this->first, $this->clicks, $this->messages] = [new CellSums(), new CellSums(), new CellSums()];
    }

    public function openHour(): void
    {
        $isKept = static fn(CellCounts $one): bool => $one->isSuspect() &&
            $one->told->sum > 2 * $one->counted->sum + self::CELLS;
        $this->known = array_map(
            static fn(): CellCounts => new CellCounts(INF),
            array_filter($this->known, $isKept),
        );
        $this->__construct();
        $this->hour++;
    }

    /** Whether one more message with impressions counts, from a cell. */
    public function isTaken(int $cell): bool
    {
        $sent = $this->messages->cells[$cell];
        $ratio = self::ratio($this->clicks->cells[$cell], $this->clicks->sum - $this->clicks->cells[$cell]);
        $likely = ($this->messages->sum - $sent + self::CELLS) * max($ratio, 1 / self::CELLS);

        return $this->messages->add($cell, 2 * $likely + 9);
    }

    /**
     * Whether the impressions of a message that is taken count.
     *
     * @param list<string> $depths where it stops seeing a list, exactly and roughly
     */
    public function isSeen(array $depths, int $cell): bool
    {
        $sent = $this->messages->cells[$cell];
        $others = $this->messages->sum - $sent;
        $isSeen = true;
        foreach ($depths as $depth) {
            $known = $this->known[$depth] ??= new CellCounts();
            $known->told->add($cell);
            [$low, $isShared] = $known->told->spread();
            $this->suspectUntil = $isShared ? $this->hour + 1 : $this->suspectUntil;
            $likely = (($known->counted->sum - $known->counted->cells[$cell] + 1) * $sent) / ($others + 1);
            $most =
                $this->hour > $this->suspectUntil
                    ? 2 * $likely + 9
                    : ((1.2 * $low + 5) * self::CELLS * $sent) / ($sent + $others);
            $isSeen = $isSeen && $known->counted->add($cell, $most);
        }

        return $isSeen;
    }

    /** Whether one more click on a video counts, from a cell. */
    public function isCounted(string $videoId, int $cell): bool
    {
        $video = $this->known[$videoId] ??= new CellCounts();
        $inCell = $this->first->cells[$cell] - $video->first->cells[$cell];
        $ratio = self::ratio($inCell, $this->first->sum - $video->first->sum - $inCell);
        $share = $ratio / (1 + $ratio);
        $likely = ($video->counted->sum - $video->counted->cells[$cell] + 1) * max($ratio, 1 / self::CELLS);
        $most = $video->isSuspect()
            ? 2 * $video->told->spread()[0] * $share * self::CELLS
            : 1.3 + 1.5 * $likely + 2 * sqrt($likely);
        if ($video->told->sum < self::FIRST_CLICKS) {
            $video->first->add($cell);
            $this->first->add($cell);
        }
        $video->told->add($cell);
        if (!$video->counted->add($cell, $most)) {
            return false;
        }
        $video->shared += $video->counted->cells[$cell] - 1;
        $video->expected += ($video->counted->sum - 1) * $share;

        return $this->clicks->add($cell);
    }

    private static function ratio(int $inCell, int $inOthers): float
    {
        return ($inCell + self::PRIOR_CLICKS / self::CELLS) / ($inOthers + self::PRIOR_CLICKS);
    }
}

/** The clicks on a video in one hour, or the messages that see a list down to one depth. */
final class CellCounts
{
    public readonly CellSums $told;
    public readonly CellSums $counted;
    public readonly CellSums $first;
    public float $expected = 0.0;

    /** @param float $shared pairs of counted clicks in one cell; `expected` are as many as other videos have */
    public function __construct(public float $shared = 0.0)
    {
        [$this->told, $this->counted, $this->first] = [new CellSums(), new CellSums(), new CellSums()];
    }

    public function isSuspect(): bool
    {
        return $this->shared > 1.1 * $this->expected + 3 * sqrt($this->expected) + 6;
    }
}

/** Clicks or messages by cell. */
final class CellSums
{
    /** @var array<int, int> */
    public array $cells;
    public int $sum = 0;

    public function __construct()
    {
        $this->cells = array_fill(0, SenderCells::CELLS, 0);
    }

    /** Adds one, if there are then at most so many from the cell. */
    public function add(int $cell, float $most = INF): bool
    {
        if ($this->cells[$cell] + 1 > $most) {
            return false;
        }
        $this->cells[$cell]++;
        $this->sum++;

        return true;
    }

    /** @return array{int, bool} what a sixteenth of the cells does not exceed, and whether a quarter has too much */
    public function spread(): array
    {
        $cells = $this->cells;
        sort($cells);
        $low = $cells[3];

        return [$low, $cells[47] > 1.9 * $low + 18];
    }
}
