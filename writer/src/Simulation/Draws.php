<?php

declare(strict_types=1);

namespace TrendVault\Writer\Simulation;

use Random\Engine\Xoshiro256StarStar;
use Random\Randomizer;

/** Random numbers of a seed. */
final readonly class Draws
{
    private Randomizer $randomizer;

    public function __construct(int $seed)
    {
        $this->randomizer = new Randomizer(new Xoshiro256StarStar($seed));
    }

    public function share(): float
    {
        return $this->randomizer->nextFloat();
    }

    /** Box and Muller (1958). */
    public function normal(): float
    {
        return sqrt(-2 * log(1 - $this->share())) * cos(2 * M_PI * $this->share());
    }

    /** Lognormal with mean 1. */
    public function factor(float $sigma): float
    {
        return exp($sigma * $this->normal() - ($sigma * $sigma) / 2);
    }

    /** Poisson: Knuth's product below 30, else the normal distribution. */
    public function count(float $mean): int
    {
        if ($mean > 30.0) {
            return max(0, (int) round($mean + sqrt($mean) * $this->normal()));
        }
        $limit = exp(-$mean);
        for ($count = 0, $product = $this->share(); $product > $limit; $count++) {
            $product *= $this->share();
        }

        return $count;
    }
}
