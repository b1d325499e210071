<?php

declare(strict_types=1);

namespace TrendVault\Writer\Simulation;

use Override;
use TrendVault\Writer\Ranking\Candidate;
use TrendVault\Writer\Ranking\RankedLists;
use TrendVault\Writer\Ranking\Traffic;
use TrendVault\Writer\Ranking\Window;

/** What orders the list in a simulation. */
interface Ranker
{
    /**
     * @param list<SimulatedVideo> $videos
     * @param int $now UTC seconds
     * @return list<SimulatedVideo> by rank
     */
    public function ranked(array $videos, Traffic $traffic, int $now): array;
}

/** The classes that rank in production, without the database between them. Visitors see the list of the next 6 hours. */
final readonly class OurRanker implements Ranker
{
    private const string REGION = 'GB';

    public function __construct(private float $exploreShare) {}

    #[Override]
    public function ranked(array $videos, Traffic $traffic, int $now): array
    {
        $byId = $contenders = [];
        foreach ($videos as $video) {
            $byId[$video->id] = $video;
            $contenders[] = $video->contender();
        }
        $lists = new RankedLists($now, [Window::Now]);
        $lists->offerAll(self::REGION, $contenders, $traffic, $this->exploreShare);
        foreach ($lists->ranked() as $list) {
            return array_map(
                static fn(Candidate $candidate): SimulatedVideo => $byId[$candidate->videoId],
                $list->candidates,
            );
        }

        return [];
    }
}

/**
 * A reference that knows nothing but how likely a rank is seen: a prior by age, learned from all, a rate for each video
 * that fades, and its upper bound as exploration.
 */
final class PlainBayes implements Ranker
{
    private const array AGES = [0.5, 1.5, 3.0, 6.0, 12.0, 24.0, 48.0, 96.0, 400.0, INF];
    private const float HALF_LIFE_HOURS = 10.0;
    private const float WIDTH = 0.6;

    /** @var array<string, array{float, float}> impressions and clicks, by video */
    private array $counts = [];
    /** @var list<array{float, float}> impressions and clicks, by age */
    private array $byAge;
    private int $last = 0;

    public function __construct()
    {
        $this->byAge = array_fill(0, count(self::AGES), [25.0, 0.5]);
    }

    #[Override]
    public function ranked(array $videos, Traffic $traffic, int $now): array
    {
        $this->learn($videos, $now);
        $scores = [];
        foreach ($videos as $video) {
            [$impressions, $clicks] = $this->byAge[self::age($video, $now)];
            $mean = $clicks / $impressions;
            $weight = max(1 / max($mean, 0.0001), 20.0);
            [$impressions, $clicks] = $this->counts[$video->id] ?? [0.0, 0.0];
            $clicks += $weight * $mean;
            $impressions += $weight;
            $scores[$video->id] = $clicks / $impressions + (self::WIDTH * sqrt($clicks)) / $impressions;
        }
        return SimulatedVideo::inOrder($videos, $scores);
    }

    /** @param list<SimulatedVideo> $videos */
    private function learn(array $videos, int $now): void
    {
        $kept = 0.5 ** (($now - $this->last) / (3600 * self::HALF_LIFE_HOURS));
        foreach ($this->byAge as $age => [$impressions, $clicks]) {
            $this->byAge[$age] = [0.995 * $impressions, 0.995 * $clicks];
        }
        foreach ($videos as $video) {
            [$impressions, $clicks] = $this->counts[$video->id] ?? [0.0, 0.0];
            $this->counts[$video->id] = [
                $kept * $impressions + $video->newImpressions,
                $kept * $clicks + $video->newClicks,
            ];
            if ($video->newImpressions > 0.0) {
                // Each video counts once, or what is shown most would be the prior.
                $age = self::age($video, $this->last);
                $this->byAge[$age][0] += 20.0;
                $this->byAge[$age][1] += (20.0 * ($video->newClicks + 0.4)) / ($video->newImpressions + 20);
            }
        }
        $this->last = $now;
    }

    private static function age(SimulatedVideo $video, int $at): int
    {
        $hours = ($at - $video->publishedAt()) / 3600;

        return (int) array_find_key(self::AGES, static fn(float $age): bool => $hours <= $age);
    }
}

/** A reference that knows the spread of the rates and how each falls, but no video's rate. */
final class KnowsTheLaw implements Ranker
{
    /** @var array<string, array{float, float}> shape and rate, by video */
    private array $known = [];
    private int $last = 0;

    /** @param float $width of exploration, in standard deviations */
    public function __construct(private readonly World $world, private readonly float $width) {}

    #[Override]
    public function ranked(array $videos, Traffic $traffic, int $now): array
    {
        $shape = 1 / (exp($this->world->appealSigma ** 2) - 1);
        $unknown = [$shape, $shape / $this->world->appealMean];
        $scores = [];
        foreach ($videos as $video) {
            [$shape, $rate] = $this->known[$video->id] ?? $unknown;
            $shape += $video->newClicks;
            $age = ($this->last - $video->publishedAt()) / 3600;
            $rate += $video->newImpressions * $this->world->left($age, $video->isEvergreen);
            $this->known[$video->id] = [$shape, $rate];
            $left = $this->world->left(($now - $video->publishedAt()) / 3600, $video->isEvergreen);
            $scores[$video->id] = ($shape / $rate + ($this->width * sqrt($shape)) / $rate) * $left;
        }
        $this->last = $now;
        return SimulatedVideo::inOrder($videos, $scores);
    }
}
