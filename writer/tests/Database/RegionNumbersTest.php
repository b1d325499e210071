<?php

declare(strict_types=1);

namespace TrendVault\Writer\Tests\Database;

use PHPUnit\Framework\Attributes\Test;
use PHPUnit\Framework\TestCase;
use TrendVault\Writer\Database\RegionTable;
use TrendVault\Writer\Tests\Support\Draws;

final class RegionNumbersTest extends TestCase
{
    /** As many as a deployment may have. */
    private const int REGIONS = 250;

    private static ?RegionTable $table = null;

    #[Test]
    public function numbers_rise_and_leave_the_index_of_the_first_region(): void
    {
        [$first, $second] = [self::writer(0), self::writer(1)];

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
            [$left, $right] = [$random->getInt(0, self::REGIONS - 1), $random->getInt(0, self::REGIONS - 1)];
            [$last, $other] = [$random->getInt(0, 1_000_000), $random->getInt(0, 1_000_000)];
            $number = self::writer($left)->numberAfter($last);

            self::assertSame($left, $number % RegionTable::NUMBER_STEP, Draws::hint());
            self::assertContains($number - $last, range(1, RegionTable::NUMBER_STEP), Draws::hint());
            if ($left !== $right) {
                $another = self::writer($right)->numberAfter($other);
                self::assertNotSame($number, $another, Draws::hint());
            }
        }
    }

    /** @param int $index of its only region in the file */
    private static function writer(int $index): RegionTable
    {
        self::$table ??= RegionTable::read(
            json_encode(
                [
                    'default' => 'AA',
                    'regions' => array_map(
                        static fn(string $code): array => [
                            'code' => $code,
                            'name' => $code,
                            'languages' => ['en'],
                        ],
                        self::codes(),
                    ),
                ],
                JSON_THROW_ON_ERROR,
            ),
        );

        return self::$table->ofWriter([self::codes()[$index]]);
    }

    /** @return non-empty-list<string> */
    private static function codes(): array
    {
        return array_map(
            static fn(int $number): string => chr(65 + intdiv($number, 26)) . chr(65 + ($number % 26)),
            range(0, self::REGIONS - 1),
        );
    }
}
