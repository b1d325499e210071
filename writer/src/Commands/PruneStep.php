<?php

declare(strict_types=1);

namespace TrendVault\Writer\Commands;

use TrendVault\Writer\Cli\Context;
use TrendVault\Writer\Database\Database;
use TrendVault\Writer\Retention\Pruning;

/** Prunes by the settings and logs what was deleted. */
final readonly class PruneStep
{
    public function __construct(private Context $context, private Database $database) {}

    public function run(): void
    {
        $settings = $this->context->settings;
        $pruned = new Pruning($this->database)->prune(
            $this->context->now(),
            $settings->keepDays,
            $settings->keepGenerations,
        );
        $this->context->log->info(
            sprintf(
                'Pruned %d generations, %s observations, %s videos.',
                $pruned->generations,
                number_format($pruned->observations),
                number_format($pruned->videos),
            ),
            [
                'event' => 'pruned',
                'generations' => $pruned->generations,
                'observations' => $pruned->observations,
                'videos' => $pruned->videos,
                'wal_truncated' => $pruned->walTruncated,
            ],
        );
    }
}
