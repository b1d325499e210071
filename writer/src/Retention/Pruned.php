<?php

declare(strict_types=1);

namespace TrendVault\Writer\Retention;

/** What pruning dropped, and whether no reader kept the WAL from being cut to nothing. */
final readonly class Pruned
{
    public function __construct(
        public int $generations,
        public int $observations,
        public int $videos,
        public bool $walTruncated,
    ) {}
}
