<?php

declare(strict_types=1);

namespace TrendVault\Writer\Ranking;

/** The lists that videos of one region, category and language may get into. */
final class ListTargets
{
    /** How many such videos there are. */
    public int $videos = 0;

    /** @param list<array{Window, non-empty-list<TopList>}> $byWindow */
    public function __construct(public readonly array $byWindow) {}
}
