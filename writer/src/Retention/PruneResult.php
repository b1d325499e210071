<?php

declare(strict_types=1);

namespace TrendVault\Writer\Retention;

/** How many rows pruning deleted, and whether the WAL could be truncated: a reader may prevent it. */
final readonly class PruneResult
{
    public function __construct(
        public int $generations,
        public int $observations,
        public int $videos,
        public bool $walTruncated,
    ) {}
}
