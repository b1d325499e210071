<?php

declare(strict_types=1);

namespace TrendVault\Writer\Simulation;

use TrendVault\Writer\Ranking\Appeal;
use TrendVault\Writer\Ranking\Contender;
use TrendVault\Writer\Ranking\Evidence;
use TrendVault\Writer\Ranking\RankGroup;
use TrendVault\Writer\Ranking\Velocity;
use TrendVault\Writer\Ranking\VelocityModel;

/** A video of the world, and what the ranking may know of it. Hours count from the simulation's start. */
final class SimulatedVideo
{
    private const float LARGEST_CHANCE = 0.95;

    public int $elsewhereViews = 0;
    public ?Velocity $velocity = null;
    /** @var array<int, Evidence> by rank group */
    public array $evidence = [];
    /** What naive feedback ranks by: all views, with a half-life of 3 hours. */
    public float $recentViews = 0.0;

    public function __construct(
        public readonly string $id,
        public readonly float $bornAt,
        private readonly float $appeal,
        public readonly float $elsewhereFactor,
        /** The age at which it bursts; null when it does not. */
        private readonly ?float $burstsAtAge,
    ) {}

    public static function draw(World $world, Draws $draws, int $number, float $bornAt): self
    {
        return new self(
            sprintf('v%06d', $number),
            $bornAt,
            $world->appealMean * $draws->factor($world->appealSigma),
            $draws->factor($world->elsewhereSigma),
            $draws->share() < $world->burstShare ? 6 + 54 * $draws->share() : null,
        );
    }

    /** The chance that a visitor who looks at it opens it. */
    public function chance(World $world, float $hour): float
    {
        $age = max(0.0, $hour - $this->bornAt);
        $left = $world->taperHours / ($age + $world->taperHours);
        if ($this->burstsAtAge !== null && $age > $this->burstsAtAge) {
            $left +=
                ($world->burstSize * $world->taperHours) / ($age - $this->burstsAtAge + $world->taperHours);
        }

        return min(self::LARGEST_CHANCE, $this->appeal * $left);
    }

    public function observe(int $at): void
    {
        $this->velocity =
            $this->velocity === null
                ? VelocityModel::first($at, $this->elsewhereViews, $this->publishedAt())
                : VelocityModel::next($this->velocity, $at, $this->elsewhereViews);
    }

    /** @param int $at UTC seconds */
    public function count(int $rank, float $looks, float $views, int $at): void
    {
        $group = RankGroup::of($rank);
        $left = Appeal::left($at - $this->publishedAt());
        $new = new Evidence($looks, $left * $looks, $views, $at);
        $this->evidence[$group] = isset($this->evidence[$group]) ? $this->evidence[$group]->plus($new) : $new;
        $this->recentViews += $views;
    }

    public function publishedAt(): int
    {
        return World::START + (int) round($this->bornAt * 3600);
    }

    public function contender(): Contender
    {
        return new Contender(
            $this->id,
            $this->id,
            null,
            $this->publishedAt(),
            $this->velocity ?? Velocity::none($this->publishedAt()),
            $this->evidence,
        );
    }
}
