<?php

declare(strict_types=1);

namespace TrendVault\Writer\Demo;

/** Pseudo-random numbers that follow from a seed text alone, so that no state is needed. */
final readonly class Rng
{
    private const int RANGE = 4_294_967_296;

    /** @return list<float> four numbers from 0 to below 1 */
    public static function numbers(string $seed): array
    {
        return array_map(
            static fn(int $number): float => $number / self::RANGE,
            array_values((array) unpack('N4', hash('murmur3f', $seed, true))),
        );
    }

    /** A size as online audiences have them: most are small, few are huge (Pareto). */
    public static function pareto(float $number, float $least, float $exponent): float
    {
        return $least * (1 - $number) ** (-1 / $exponent);
    }
}
