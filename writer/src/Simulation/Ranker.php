<?php

declare(strict_types=1);

namespace TrendVault\Writer\Simulation;

use Override;
use TrendVault\Writer\Ranking\AppealModel;
use TrendVault\Writer\Ranking\Candidate;
use TrendVault\Writer\Ranking\RankedLists;
use TrendVault\Writer\Ranking\Window;

/** What orders the list in a simulation. */
interface Ranker
{
    /**
     * @param list<SimulatedVideo> $videos
     * @param int $now UTC seconds
     * @return list<SimulatedVideo> by rank
     */
    public function ranked(array $videos, int $now): array;
}

/** The classes that rank in production, without the database between them. Visitors see the list of the next 6 hours. */
final readonly class OurRanker implements Ranker
{
    private const string REGION = 'GB';

    /** @param float $surprise see AppealModel::SURPRISE; INF lets looks say anything */
    public function __construct(
        private float $exploreShare,
        private float $surprise = AppealModel::SURPRISE,
    ) {}

    #[Override]
    public function ranked(array $videos, int $now): array
    {
        $byId = $contenders = [];
        foreach ($videos as $video) {
            $byId[$video->id] = $video;
            $contenders[] = $video->contender();
        }
        $lists = new RankedLists($now, [Window::Now]);
        $lists->offerAll(self::REGION, $contenders, $this->exploreShare, $this->surprise);
        foreach ($lists->ranked() as $list) {
            return array_map(
                static fn(Candidate $candidate): SimulatedVideo => $byId[$candidate->videoId],
                $list->candidates,
            );
        }

        return [];
    }
}

/** Naive feedback: all views, those that the list causes too, with a half-life of three hours. */
final class NaiveRanker implements Ranker
{
    #[Override]
    public function ranked(array $videos, int $now): array
    {
        usort(
            $videos,
            static fn(SimulatedVideo $a, SimulatedVideo $b): int => $b->recentViews <=> $a->recentViews ?:
            strcmp($a->id, $b->id),
        );

        return $videos;
    }
}

/** Views per look as they were counted, without a prior: what shrinking is worth is the difference. */
final class RateRanker implements Ranker
{
    private const float UNKNOWN = 0.04;

    #[Override]
    public function ranked(array $videos, int $now): array
    {
        $rates = [];
        foreach ($videos as $video) {
            $looks = array_sum(array_column($video->evidence, 'looks'));
            $rates[] =
                $looks > 0.0 ? array_sum(array_column($video->evidence, 'views')) / $looks : self::UNKNOWN;
        }
        arsort($rates);

        return array_map(static fn(int $index): SimulatedVideo => $videos[$index], array_keys($rates));
    }
}
