<?php

declare(strict_types=1);

namespace TrendVault\Writer\Tests\Support;

use Random\Engine\Xoshiro256StarStar;
use Random\Randomizer;

/** What tests draw at random follows from TEST_SEED, or from another seed each time. */
final class Draws
{
    private static ?int $seed = null;

    public static function seed(): int
    {
        return self::$seed ??= (int) (getenv('TEST_SEED') ?: random_int(1, 2 ** 32 - 1));
    }

    /**
     * For what is measured, not true of each draw (a mean, a share, a rank): always 1 to `$count`, and drawn in long runs.
     *
     * @return list<int>
     */
    public static function measuredSeeds(int $count): array
    {
        $first = getenv('TEST_LONG') ? self::seed() : 1;

        return range($first, $first + $count - 1);
    }

    public static function randomizer(): Randomizer
    {
        return new Randomizer(new Xoshiro256StarStar(self::seed()));
    }

    /** For the message of a failure: how to draw the same again. */
    public static function hint(): string
    {
        return 'TEST_SEED=' . self::seed();
    }

    /** How often to draw: TEST_LONG makes it a long run. */
    public static function count(int $usual, int $long): int
    {
        return getenv('TEST_LONG') ? $long : $usual;
    }
}
