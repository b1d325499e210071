<?php

declare(strict_types=1);

namespace TrendVault\Writer\Demo;

/** Numbers that look random and follow from a text alone, so that nothing needs to be remembered. */
final readonly class Dice
{
    private const int SIDES = 4_294_967_296;

    /** @return list<float> four numbers from 0 to below 1 */
    public static function roll(string $text): array
    {
        return array_map(
            static fn(int $number): float => $number / self::SIDES,
            array_values((array) unpack('N4', hash('murmur3f', $text, true))),
        );
    }

    /** A size as online audiences have them: most are small, few are huge (Pareto). */
    public static function pareto(float $number, float $least, float $exponent): float
    {
        return $least * (1 - $number) ** (-1 / $exponent);
    }
}
