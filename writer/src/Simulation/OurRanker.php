<?php

declare(strict_types=1);

namespace TrendVault\Writer\Simulation;

use Override;
use TrendVault\Writer\Ranking\AppealModel;
use TrendVault\Writer\Ranking\Candidate;
use TrendVault\Writer\Ranking\RankedLists;
use TrendVault\Writer\Ranking\Window;

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
