<?php

declare(strict_types=1);

namespace TrendVault\Writer\Simulation;

use Override;

/** Views per look as they were counted, without a prior: what shrinking is worth is the difference. */
final class RateRanker implements Ranker
{
    private const float UNKNOWN = 0.04;

    #[Override]
    public function ranked(array $videos, int $now): array
    {
        $rates = [];
        foreach ($videos as $video) {
            $looks = array_sum(array_column($video->evidence, 'looks'));
            $rates[] =
                $looks > 0.0 ? array_sum(array_column($video->evidence, 'views')) / $looks : self::UNKNOWN;
        }
        arsort($rates);

        return array_map(static fn(int $index): SimulatedVideo => $videos[$index], array_keys($rates));
    }
}
