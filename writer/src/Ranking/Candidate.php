<?php

declare(strict_types=1);

namespace TrendVault\Writer\Ranking;

use LogicException;
use TrendVault\Writer\Editorial\Ruling;

/** Limits how many videos of one channel are in the first ranks. It moves videos down and leaves none out. */
final readonly class ChannelLimit
{
    public const int VIDEOS = 3;
    public const int WITHIN_RANKS = 24;

    /** @param int $withinRanks 0 for no limit */
    public function __construct(
        public int $videos = self::VIDEOS,
        public int $withinRanks = self::WITHIN_RANKS,
    ) {}

    /**
     * Moves the videos above a channel's limit behind the first ranks, where they keep their order; further up where the
     * other channels have no videos left for these ranks.
     *
     * @param list<Candidate> $candidates in order
     * @return array<int, Candidate> by rank; the keys are their places before, from 0
     */
    public function apply(array $candidates): array
    {
        return $this->first($candidates) + $candidates;
    }

    /**
     * @param list<Candidate> $candidates in order
     * @return array<int, Candidate> those in the first ranks, by index in the list; fewer where the channels are used up
     */
    public function first(array $candidates): array
    {
        $first = $counts = [];
        foreach ($candidates as $index => $candidate) {
            if (count($first) === $this->withinRanks) {
                break;
            }
            $channel = "#$candidate->channel";
            $counts[$channel] = ($counts[$channel] ?? 0) + 1;
            if ($counts[$channel] <= $this->videos) {
                $first[$index] = $candidate;
            }
        }

        return $first;
    }
}

/** A video that may get into a list. */
final readonly class Candidate
{
    public function __construct(
        public string $videoId,
        public string $channel,
        public float $score,
        public Velocity $velocity,
        /** Whether it stands above the rank that it has earned. */
        public bool $isExplored = false,
        /** UTC seconds; null when that is not known. */
        public ?int $publishedAt = null,
        /** Null where the list does not learn from impressions. */
        public ?ClickRate $rate = null,
        /** @var list<ClickCounts> */
        public array $counts = [],
        public ?Ruling $ruling = null,
        /** See Contender. */
        public ?int $firstSeenAt = null,
    ) {}

    /**
     * The total order of every list: score, highest first, then id. PHP sorts columns ten times as fast as objects.
     *
     * @param list<self> $candidates
     * @return list<self>
     */
    public static function sorted(array $candidates): array
    {
        $scores = array_column($candidates, 'score');
        $ids = array_column($candidates, 'videoId');
        array_multisort($scores, SORT_DESC, SORT_NUMERIC, $ids, SORT_ASC, SORT_STRING, $candidates);

        return $candidates;
    }

    /** Of a list that learns from impressions. */
    public function clickRate(): ClickRate
    {
        return $this->rate ??
            throw new LogicException("The click-through rate of $this->videoId is not known.");
    }

    /** The same video on a rank that it has not earned. */
    public function triedWith(float $score): self
    {
        return new self(
            $this->videoId,
            $this->channel,
            $score,
            $this->velocity,
            true,
            $this->publishedAt,
            $this->rate,
            $this->counts,
            $this->ruling,
            $this->firstSeenAt,
        );
    }
}
