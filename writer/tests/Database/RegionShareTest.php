<?php

declare(strict_types=1);

namespace TrendVault\Writer\Tests\Database;

use PHPUnit\Framework\Attributes\Test;
use PHPUnit\Framework\TestCase;
use TrendVault\Writer\Database\RegionShare;
use TrendVault\Writer\Tests\Support\Draws;

final class RegionShareTest extends TestCase
{
    #[Test]
    public function numbers_rise_and_leave_the_index_of_the_first_region(): void
    {
        $first = new RegionShare(['GB', 'DE'], ['GB'], 0);
        $second = new RegionShare(['GB', 'DE'], ['DE'], 1);

        self::assertSame(
            [256, 512, 768],
            [$first->numberAfter(0), $first->numberAfter(256), $first->numberAfter(513)],
        );
        self::assertSame([1, 257, 257, 513], array_map($second->numberAfter(...), [0, 1, 256, 257]));
    }

    #[Test]
    public function two_writers_never_have_the_same_number(): void
    {
        $random = Draws::randomizer();
        for ($draw = 0; $draw < Draws::count(usual: 1000, long: 100_000); $draw++) {
            [$left, $right] = [$random->getInt(0, 255), $random->getInt(0, 255)];
            [$last, $other] = [$random->getInt(0, 1_000_000), $random->getInt(0, 1_000_000)];
            $number = new RegionShare(['GB', 'DE'], ['GB'], $left)->numberAfter($last);

            self::assertSame($left, $number % RegionShare::NUMBER_STEP, Draws::hint());
            self::assertContains($number - $last, range(1, RegionShare::NUMBER_STEP), Draws::hint());
            if ($left !== $right) {
                $another = new RegionShare(['GB', 'DE'], ['DE'], $right)->numberAfter($other);
                self::assertNotSame($number, $another, Draws::hint());
            }
        }
    }
}
