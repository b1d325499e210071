<?php

declare(strict_types=1);

namespace TrendVault\Writer\Simulation;

use TrendVault\Writer\Ranking\Appeal;
use TrendVault\Writer\Ranking\Evidence;
use TrendVault\Writer\Ranking\RankGroup;

/** Runs a world in steps of five minutes: visitors look at the list, open videos, and the list is ranked by that. */
final class ClosedLoop
{
    private const float NAIVE_HALF_LIFE_HOURS = 3.0;
    private const int RECALL_RANKS = 24;
    private const float STEP_HOURS = World::STEP_SECONDS / 3600;

    /** @var list<SimulatedVideo> alive, by age, oldest first */
    private array $videos = [];
    private readonly Draws $draws;
    private readonly float $elsewherePerChance;
    private int $born = 0;
    private float $nextBirth;
    private ?SimulatedVideo $pushed = null;

    public function __construct(private readonly World $world, private readonly Ranker $ranker, int $seed)
    {
        $this->draws = new Draws($seed);
        $this->nextBirth = -$world->lifeHours;
        $this->bear(0.0);
        $this->elsewherePerChance = $this->elsewherePerChance();
        foreach ($this->videos as $video) {
            for ($hour = $video->bornAt; $hour < 0; $hour++) {
                $this->viewElsewhere($video, $hour, 1.0);
            }
        }
    }

    /** @param callable(float): void $progress is called with the share that is done */
    public function run(callable $progress): SimulationResult
    {
        $result = new SimulationResult();
        $steps = (int) round(($this->world->days * 24) / self::STEP_HOURS);
        for ($step = 0; $step < $steps; $step++) {
            $hour = $step * self::STEP_HOURS;
            $this->bear($hour);
            $this->observe($hour);
            $list = $this->ranker->ranked($this->videos, World::START + (int) round($hour * 3600));
            $this->measure($result, $list, $hour);
            $this->visit($list, $hour);
            $progress(($step + 1) / $steps);
        }

        return $result;
    }

    private function bear(float $hour): void
    {
        for (; $this->nextBirth <= $hour; $this->nextBirth += 1 / $this->world->birthsPerHour) {
            $this->videos[] = SimulatedVideo::draw(
                $this->world,
                $this->draws,
                $this->born++,
                $this->nextBirth,
            );
        }
        while ($this->videos !== [] && $this->videos[0]->bornAt < $hour - $this->world->lifeHours) {
            array_shift($this->videos);
        }
    }

    /** So that elsewhere causes its share of all views, if the list is as good as it can be. */
    private function elsewherePerChance(): float
    {
        $share = $this->world->elsewhereShare;
        $all = 0.0;
        foreach ($this->videos as $video) {
            $all += $video->chance($this->world, 0.0) * $video->elsewhereFactor;
        }
        $best = $this->given($this->best(0.0), 0.0) * $this->world->loadsPerHour;

        return ($share / (1 - $share)) * ($best / $all);
    }

    private function viewElsewhere(SimulatedVideo $video, float $hour, float $hours): void
    {
        if ($this->elsewherePerChance > 0.0) {
            $mean =
                $this->elsewherePerChance *
                $hours *
                $video->elsewhereFactor *
                $video->chance($this->world, $hour);
            $views = $this->draws->count($mean);
            $video->elsewhereViews += $views;
            $video->recentViews += $views;
        }
    }

    private function observe(float $hour): void
    {
        $kept = 2.0 ** (-self::STEP_HOURS / self::NAIVE_HALF_LIFE_HOURS);
        foreach ($this->videos as $video) {
            $video->recentViews *= $kept;
            $this->viewElsewhere($video, $hour, self::STEP_HOURS);
            if ($this->elsewherePerChance > 0.0) {
                $video->observe(World::START + (int) round($hour * 3600));
            }
        }
    }

    /** @param list<SimulatedVideo> $list */
    private function visit(array $list, float $hour): void
    {
        $loads = $this->world->isQuiet($hour) ? 0.0 : $this->world->loadsPerHour * self::STEP_HOURS;
        if ($loads <= 0.0) {
            return;
        }
        $at = World::START + (int) round(($hour + self::STEP_HOURS) * 3600);
        foreach (array_slice($list, 0, $this->world->lastRank) as $index => $video) {
            $rank = $index + 1;
            $looks = min($loads, $this->draws->count($loads * $rank ** -$this->world->steepness));
            $views = min($looks, $this->draws->count($looks * $video->chance($this->world, $hour)));
            $kept = $this->world->kept($hour);
            $told = $this->world->saysDepth ? $looks : $loads;
            $this->count($video, $rank, $kept * $told, $kept * $views, $at);
        }
        $this->attack($list, $loads, $hour, $at);
    }

    /**
     * Messages that say that all ranks down to the pushed video were looked at, and that it was opened.
     *
     * @param list<SimulatedVideo> $list
     */
    private function attack(array $list, float $loads, float $hour, int $at): void
    {
        $messages = $loads * $this->world->falseMessages($hour) * $this->world->kept($hour);
        if ($messages <= 0.0) {
            return;
        }
        $this->pushed ??= $list[min(count($list), 200) - 1];
        $place = array_search($this->pushed, $list, true);
        foreach ($place === false ? [] : array_slice($list, 0, $place + 1) as $index => $video) {
            $this->count($video, $index + 1, $messages, $video === $this->pushed ? $messages : 0.0, $at);
        }
    }

    private function count(SimulatedVideo $video, int $rank, float $looks, float $views, int $at): void
    {
        $group = RankGroup::of($rank);
        $left = Appeal::left($at - $video->publishedAt());
        $new = new Evidence($looks, $left * $looks, $views, $at);
        $video->evidence[$group] = isset($video->evidence[$group])
            ? $video->evidence[$group]->plus($new)
            : $new;
        $video->recentViews += $views;
    }

    /** @param list<SimulatedVideo> $list */
    private function measure(SimulationResult $result, array $list, float $hour): void
    {
        $isMeasured = $hour >= 24 * $this->world->warmUpDays && !$this->world->isQuiet($hour);
        $best = $this->best($hour);
        $found = array_uintersect(
            array_slice($list, 0, self::RECALL_RANKS),
            array_slice($best, 0, self::RECALL_RANKS),
            static fn(SimulatedVideo $a, SimulatedVideo $b): int => strcmp($a->id, $b->id),
        );
        $result->add(
            $hour,
            $isMeasured,
            $this->given($list, $hour),
            $this->given($best, $hour),
            count($found) / min(self::RECALL_RANKS, count($best)),
            $this->pushed === null ? null : array_search($this->pushed, $list, true),
        );
    }

    /** @return list<SimulatedVideo> in the order of the true chance */
    private function best(float $hour): array
    {
        $chances = array_map(
            fn(SimulatedVideo $video): float => $video->chance($this->world, $hour),
            $this->videos,
        );
        arsort($chances);

        return array_map(
            fn(int $index): SimulatedVideo => $this->videos[$index],
            array_slice(array_keys($chances), 0, $this->world->lastRank),
        );
    }

    /**
     * @param list<SimulatedVideo> $list
     * @return float views that a load of the list gives, expected
     */
    private function given(array $list, float $hour): float
    {
        $views = 0.0;
        foreach (array_slice($list, 0, $this->world->lastRank) as $index => $video) {
            $views += ($index + 1) ** -$this->world->steepness * $video->chance($this->world, $hour);
        }

        return $views;
    }
}
