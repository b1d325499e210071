<?php

declare(strict_types=1);

namespace TrendVault\Writer\Simulation;

use Closure;
use TrendVault\Writer\Ranking\CountedImpressions;
use TrendVault\Writer\Ranking\RankGroup;
use TrendVault\Writer\Ranking\Traffic;

/** Runs a world from list to list: visitors look at the list, open videos, and the list is ranked by that. */
final class ClosedLoop
{
    private const int RECALL_RANKS = 24;
    private const int PAGE_RANKS = 24;

    /** @var list<SimulatedVideo> alive, by age, oldest first */
    private array $videos = [];
    /** Births, appeal and what is viewed elsewhere: whatever visitors do, a seed is the same world. */
    private readonly Draws $worldDraws;
    private readonly Draws $draws;
    private readonly float $elsewherePerChance;
    private int $born = 0;
    private float $nextBirth;
    private ?SimulatedVideo $pushed = null;
    private readonly float $stepHours;
    /** @var array<int, array{float, int, int}> see Traffic */
    private array $traffic = [];
    private readonly SenderCells $cells;
    private readonly Draws $cellDraws;
    /** @var list<int> the attackers' cells in this hour */
    private array $attackersCells = [];
    private int $openHour = -1;

    public function __construct(private readonly World $world, private readonly Ranker $ranker, int $seed)
    {
        $this->worldDraws = new Draws($seed);
        $this->draws = new Draws($seed, 1);
        $this->cells = new SenderCells();
        $this->cellDraws = new Draws($seed, 2);
        $this->stepHours = $world->listMinutes / 60;
        $this->nextBirth = $world->oldVideos === null ? -($world->lifeHours ?? $world->oldHours) : 0.0;
        $this->bearOld();
        $this->bear(0.0);
        $this->elsewherePerChance = $this->elsewherePerChance();
        foreach ($this->videos as $video) {
            for ($hour = $this->elsewherePerChance > 0.0 ? $video->bornAt : 0.0; $hour < 0; $hour++) {
                $this->viewElsewhere($video, $hour, 1.0);
            }
        }
    }

    /** @param callable(float): void $progress is called with the share that is done */
    public function run(callable $progress): SimulationResult
    {
        $result = new SimulationResult();
        $steps = (int) round(($this->world->days * 24) / $this->stepHours);
        for ($step = 0; $step < $steps; $step++) {
            $hour = $step * $this->stepHours;
            $this->bear($hour);
            $this->observe($hour);
            $now = World::START + (int) round($hour * 3600);
            $list = $this->ranker->ranked($this->videos, new Traffic($this->traffic, $now), $now);
            foreach ($this->videos as $video) {
                $video->newImpressions = $video->newClicks = 0.0;
            }
            $this->measure($result, $list, $hour);
            $this->visit($list, $hour);
            $progress(($step + 1) / $steps);
        }

        return $result;
    }

    private function bearOld(): void
    {
        $ages = [];
        for ($number = 0; $number < ($this->world->oldVideos ?? 0); $number++) {
            $ages[] = $this->world->oldHours * $this->worldDraws->share();
        }
        rsort($ages);
        foreach ($ages as $age) {
            $this->videos[] = SimulatedVideo::draw($this->world, $this->worldDraws, $this->born++, -$age);
        }
    }

    private function bear(float $hour): void
    {
        for (; $this->nextBirth <= $hour; $this->nextBirth += 1 / $this->world->birthsPerHour) {
            $this->videos[] = SimulatedVideo::draw(
                $this->world,
                $this->worldDraws,
                $this->born++,
                $this->nextBirth,
            );
        }
        $life = $this->world->lifeHours ?? INF;
        while ($this->videos !== [] && $this->videos[0]->bornAt < $hour - $life) {
            array_shift($this->videos);
        }
    }

    /** So that elsewhere causes its share of all views, if the list is as good as it can be. */
    private function elsewherePerChance(): float
    {
        $share = $this->world->elsewhereShare;
        $all = 0.0;
        foreach ($this->videos as $video) {
            $all += $video->elsewhere($this->world, 0.0);
        }
        $best = $this->given($this->best(0.0), 0.0) * $this->world->loadsPerHour;

        return ($share / (1 - $share)) * ($best / $all);
    }

    private function viewElsewhere(SimulatedVideo $video, float $hour, float $hours): void
    {
        if ($this->elsewherePerChance > 0.0) {
            $mean = $this->elsewherePerChance * $hours * $video->elsewhere($this->world, $hour);
            $video->elsewhereViews += $this->worldDraws->count($mean);
        }
    }

    private function observe(float $hour): void
    {
        foreach ($this->videos as $video) {
            $this->viewElsewhere($video, $hour, $this->stepHours);
            if ($this->elsewherePerChance > 0.0) {
                $video->observe(World::START + (int) round($hour * 3600));
            }
        }
    }

    /** @param list<SimulatedVideo> $list */
    private function visit(array $list, float $hour): void
    {
        $loads = $this->world->loadsPerHour * $this->stepHours;
        if ($loads <= 0.0) {
            return;
        }
        $at = World::START + (int) round(($hour + $this->stepHours) * 3600);
        $this->openHour((int) $hour);
        [$last, $messages] = $this->attack($list, $loads, $hour);
        $page = intdiv($last - 1, self::PAGE_RANKS);
        $kept = $this->world->kept($loads * $this->world->lookShare($page * self::PAGE_RANKS + 1), $messages);
        $seen = $this->world->attackShare > 0.0 ? $this->seen($loads, $messages, $last) : [];
        foreach (array_slice($list, 0, max($this->world->lastRank, $last)) as $index => $video) {
            $rank = $index + 1;
            $scale = intdiv($index, self::PAGE_RANKS) === $page ? $kept : 1.0;
            $share = $this->world->lookShare($rank);
            $looks = $share > 0.0 ? min($loads, $this->draws->count($loads * $share)) : 0;
            $views = min($looks, $this->draws->count($looks * $video->chance($this->world, $hour)));
            $false = $video === $this->pushed && !$this->world->pushesDown ? $messages : 0.0;
            $opened = $this->judged(
                $views,
                $false,
                fn(int $cell): bool => $this->cells->isCounted($video->id, $cell),
            );
            $told = $seen[$rank] ?? ($this->world->saysDepth ? $looks : $loads);
            $counted = new CountedImpressions($at, '', $video->id, $rank, $scale * $told, $scale * $opened);
            $video->count($counted);
            $since = $at - (int) round(3600 * $this->stepHours);
            $group = RankGroup::of($rank);
            $this->traffic = Traffic::plus($this->traffic, $group, $counted->impressions, $since, $at);
        }
    }

    /** @return array<int, float> impressions of each rank that the edge counts; `false` messages see down to rank `last` */
    private function seen(float $loads, float $false, int $last): array
    {
        [$seen, $opened] = [[], 0.0];
        for ($rank = 1; $rank <= max($this->world->lastRank, $last); $rank++) {
            $deeper = $rank % self::PAGE_RANKS === 0 ? 0.0 : $this->world->lookShare($rank + 1);
            $first = $rank - (($rank - 1) % self::PAGE_RANKS);
            $depths = ["$rank", "$first/" . floor(log($rank / $first, 2))];
            $taken = 0;
            $seen[$rank] = $this->judged(
                $this->draws->count($loads * ($this->world->lookShare($rank) - $deeper)),
                $rank === $last ? $false : 0.0,
                function (int $cell) use ($depths, &$taken): bool {
                    $isTaken = $this->cells->isTaken($cell);
                    $taken += $isTaken ? 1 : 0;

                    return $isTaken && $this->cells->isSeen($depths, $cell);
                },
            );
            if ($rank === $last && !$this->world->pushesDown) {
                $opened = max(0.0, $taken - $seen[$rank]); // what was opened was seen; without cells, all of it is
            }
        }
        for ($rank -= 2; $rank >= 1; $rank--) {
            $seen[$rank] += $rank % self::PAGE_RANKS === 0 ? 0.0 : $seen[$rank + 1];
        }
        if ($last > 0) {
            $seen[$last] += $opened;
        }

        return $seen;
    }

    private function openHour(int $hour): void
    {
        if ($hour !== $this->openHour) {
            $this->openHour = $hour;
            $this->cells->openHour();
            $draw = fn(): int => $this->cellDraws->below(SenderCells::CELLS);
            $this->attackersCells = array_map($draw, range(1, $this->world->attackers));
        }
    }

    /**
     * @param Closure(int): bool $isCounted by cell
     * @return float how many of true and false impressions, or clicks, the edge counts; they come in any order
     */
    private function judged(float $true, float $false, Closure $isCounted): float
    {
        if (!$this->world->hasSenderCells) {
            return $true + $false;
        }
        [$false, $counted] = [(int) round($false), 0];
        for ($left = (int) $true + $false; $left > 0; $left--) {
            $isFalse = $false > 0 && $this->cellDraws->below($left) < $false;
            $cell = $isFalse
                ? $this->attackersCells[$this->cellDraws->below($this->world->attackers)]
                : $this->cellDraws->below(SenderCells::CELLS);
            $counted += $isCounted($cell) ? 1 : 0;
            $false -= $isFalse ? 1 : 0;
        }

        return $counted;
    }

    /**
     * False messages are about the page of the pushed video: that its ranks down to the video were looked at, and that it
     * was opened, or nothing.
     *
     * @param list<SimulatedVideo> $list
     * @return array{int, float} the video's rank, and the messages
     */
    private function attack(array $list, float $loads, float $hour): array
    {
        if ($hour < $this->world->attackFromHour) {
            return [0, 0.0];
        }
        $this->pushed ??= $list[min(count($list), $this->world->attackedRank) - 1];
        $place = array_search($this->pushed, $list, true);
        $share = $this->world->attackShare;

        return $place === false || $share <= 0.0 ? [0, 0.0] : [$place + 1, ($loads * $share) / (1 - $share)];
    }

    /** @param list<SimulatedVideo> $list */
    private function measure(SimulationResult $result, array $list, float $hour): void
    {
        $isMeasured = $hour >= 24 * $this->world->warmUpDays;
        $best = $this->best($hour);
        $found = array_uintersect(
            array_slice($list, 0, self::RECALL_RANKS),
            array_slice($best, 0, self::RECALL_RANKS),
            static fn(SimulatedVideo $a, SimulatedVideo $b): int => strcmp($a->id, $b->id),
        );
        $result->add(
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

/** A line of the table for each world. */
final class Cells
{
    public const string HEAD = " elsewhere  loads/h   value (least)  recall@24  plain    law\n";

    /** @return array<string, Closure(): Ranker> what a list is measured against, by label */
    public static function references(World $world): array
    {
        $rankers = ['plain' => static fn(): Ranker => new PlainBayes()];
        foreach ([0.5, 2.0, 4.0] as $width) {
            $rankers["law $width"] = static fn(): Ranker => new KnowsTheLaw($world, $width);
        }

        return $rankers;
    }

    /**
     * @param array<string, Ranker|Closure(): Ranker> $rankers by label; a closure makes one for each seed
     * @param list<int> $seeds
     * @param Closure(float): mixed $progress
     * @return array<string, list<SimulationResult>> by label, one a seed
     */
    public static function run(World $world, array $rankers, array $seeds, Closure $progress): array
    {
        $results = [];
        $done = 0;
        $all = count($seeds) * count($rankers);
        foreach ($rankers as $label => $ranker) {
            foreach ($seeds as $seed) {
                /** @var Ranker $made */
                $made = $ranker instanceof Closure ? $ranker() : $ranker;
                $results[$label][] = new ClosedLoop($world, $made, $seed)->run(
                    static fn(float $share) => $progress(($done + $share) / $all),
                );
                $done++;
            }
        }

        return $results;
    }

    /** @param array<string, list<SimulationResult>> $cell by label */
    public static function line(World $world, array $cell): string
    {
        $values = array_map(static fn(SimulationResult $one): float => $one->value(), $cell['ours']);

        return sprintf(
            "%9.0f%% %8s   %.3f (%.3f)  %9.3f%s%s\n",
            100 * $world->elsewhereShare,
            number_format($world->loadsPerHour),
            array_sum($values) / count($values),
            min($values),
            self::mean($cell['ours'], static fn(SimulationResult $one): float => $one->recall()),
            self::referenceValues($cell),
            isset($cell['plain']) ? '' : self::pushedTo($cell['ours']),
        );
    }

    /**
     * Of several that know the law, the best: how widely to explore depends on the world.
     *
     * @param array<string, list<SimulationResult>> $cell by label
     */
    private static function referenceValues(array $cell): string
    {
        $value = static fn(SimulationResult $one): float => $one->value();
        $law = array_filter(
            $cell,
            static fn(string $label): bool => str_starts_with($label, 'law'),
            ARRAY_FILTER_USE_KEY,
        );

        return $law === []
            ? ''
            : sprintf(
                '  %.3f  %.3f',
                self::mean($cell['plain'], $value),
                max(array_map(static fn(array $results): float => self::mean($results, $value), $law)),
            );
    }

    /** @param list<SimulationResult> $results of an attack */
    private static function pushedTo(array $results): string
    {
        return sprintf(
            '  pushed to rank %.0f, median %.0f',
            self::mean($results, static fn(SimulationResult $one): float => $one->pushedTo(0.0)),
            self::mean($results, static fn(SimulationResult $one): float => $one->pushedTo(0.5)),
        );
    }

    /**
     * @param list<SimulationResult> $results
     * @param Closure(SimulationResult): float $of
     */
    private static function mean(array $results, Closure $of): float
    {
        return array_sum(array_map($of, $results)) / count($results);
    }
}

/** What a list gave, step by step. */
final class SimulationResult
{
    /** @var list<int> the pushed video's ranks, list by list */
    public array $pushedTo = [];
    private float $given = 0.0;
    private float $best = 0.0;
    private float $recalls = 0.0;
    private int $measured = 0;

    /**
     * @param float $given views that a load of the list gives
     * @param float $best views that a load of the best list gives
     * @param int|false|null $pushedIndex of the pushed video in the list, false when it is not in it, null when none is
     */
    public function add(
        bool $isMeasured,
        float $given,
        float $best,
        float $recall,
        int|false|null $pushedIndex,
    ): void {
        if ($isMeasured) {
            $this->given += $given;
            $this->best += $best;
            $this->recalls += $recall;
            $this->measured++;
        }
        if ($pushedIndex !== null) {
            $this->pushedTo[] = ($pushedIndex === false ? 500 : $pushedIndex) + 1;
        }
    }

    /** The pushed video's rank at this part of the way from its best to its worst; 0 where none is pushed. */
    public function pushedTo(float $part): int
    {
        $ranks = $this->pushedTo;
        sort($ranks);

        return $ranks[(int) ($part * count($ranks))] ?? 0;
    }

    /** Views that the list gave, in parts of those of the best order, on the measured days. */
    public function value(): float
    {
        return $this->given / $this->best;
    }

    /** The share of the 24 best videos that are in the first 24 ranks. */
    public function recall(): float
    {
        return $this->recalls / $this->measured;
    }
}
