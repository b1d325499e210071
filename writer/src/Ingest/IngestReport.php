<?php

declare(strict_types=1);

namespace TrendVault\Writer\Ingest;

use TrendVault\Writer\Cli\Log;

/** What is said about a source that was read. */
final readonly class IngestReport
{
    public function __construct(
        private string $source,
        private Tally $tally,
        private SetAside $aside,
        private float $seconds,
    ) {}

    public function log(Log $log): void
    {
        $counts = [];
        foreach (Outcome::cases() as $outcome) {
            $counts[$outcome->value] = $this->tally->of($outcome);
        }
        $log->info('ingested', $this->sentence($counts), [
            'source' => $this->source,
            ...$counts,
            'rejected' => $this->tally->rejected(),
            'seconds' => round($this->seconds, 3),
        ]);
        if ($this->aside->reportPath() !== null) {
            $log->warn(
                'set_aside',
                "What was set aside of $this->source, and why: {$this->aside->reportPath()}",
                [
                    'report' => $this->aside->reportPath(),
                    'reasons' => $this->tally->rejections(),
                ],
            );
        }
    }

    /** @param array<string, int> $counts by outcome */
    private function sentence(array $counts): string
    {
        $parts = [];
        foreach ([...$counts, 'set aside' => $this->tally->rejected()] as $name => $count) {
            $parts[] = number_format($count) . " $name";
        }

        return sprintf('%s: %s, in %.1f s.', $this->source, implode(', ', $parts), $this->seconds);
    }
}
