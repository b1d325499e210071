<?php

declare(strict_types=1);

namespace TrendVault\Writer\Ranking;

/** A published ranking. */
final readonly class Generation
{
    public function __construct(
        public int $id,
        public int $publishedAt,
        public int $videoCount,
        public int $rowCount,
    ) {}
}
