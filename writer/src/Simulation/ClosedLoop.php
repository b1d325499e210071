<?php

declare(strict_types=1);

namespace TrendVault\Writer\Simulation;

/** Runs a world in steps of five minutes: visitors look at the list, open videos, and the list is ranked by that. */
final class ClosedLoop
{
    private const float NAIVE_HALF_LIFE_HOURS = 3.0;
    private const int RECALL_RANKS = 24;
    private const int PAGE_RANKS = 24;
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
        [$page, $kept] = $this->attack($list, $loads, $hour, $at);
        foreach (array_slice($list, 0, $this->world->lastRank) as $index => $video) {
            $looks = min($loads, $this->draws->count($loads * $this->world->lookShare($index + 1)));
            $views = min($looks, $this->draws->count($looks * $video->chance($this->world, $hour)));
            $told = $this->world->saysDepth ? $looks : $loads;
            $share = intdiv($index, self::PAGE_RANKS) === $page ? $kept : 1.0;
            $video->count($index + 1, $share * $told, $share * $views, $at);
        }
    }

    /**
     * Messages about the page of the pushed video: that all its ranks down to the video were looked at, and that it was
     * opened.
     *
     * @param list<SimulatedVideo> $list
     * @return array{?int, float} the page from 0, and what the ceiling leaves of each message about it
     */
    private function attack(array $list, float $loads, float $hour, int $at): array
    {
        $messages = $loads * $this->world->falseMessages($hour);
        $this->pushed ??= $messages > 0.0 ? $list[min(count($list), $this->world->attackedRank) - 1] : null;
        $place = $this->pushed === null ? false : array_search($this->pushed, $list, true);
        if ($place === false) {
            return [null, 1.0];
        }
        $page = intdiv($place, self::PAGE_RANKS);
        $first = $page * self::PAGE_RANKS;
        $kept = $this->world->kept($loads * $this->world->lookShare($first + 1), $messages);
        foreach (array_slice($list, $first, $place - $first + 1) as $index => $video) {
            $views = $video === $this->pushed ? $kept * $messages : 0.0;
            $video->count($first + $index + 1, $kept * $messages, $views, $at);
        }

        return [$page, $kept];
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
            $views += $this->world->lookShare($index + 1) * $video->chance($this->world, $hour);
        }

        return $views;
    }
}
