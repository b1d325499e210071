<?php

declare(strict_types=1);

namespace TrendVault\Writer\Commands;

use TrendVault\Writer\Cli\Context;
use TrendVault\Writer\Database\Database;
use TrendVault\Writer\Ranking\ClockBackwards;
use TrendVault\Writer\Ranking\Forecast;
use TrendVault\Writer\Ranking\RankingPublisher;

/** Publishes a generation and logs it. */
final readonly class RankStep
{
    public function __construct(private Context $context, private Database $database) {}

    /**
     * @param ?int $at UTC seconds; null for now, if the clock can be believed
     * @throws ClockBackwards
     */
    public function run(?int $at = null): void
    {
        $started = hrtime(true);
        $ranking = new RankingPublisher($this->database, $this->context->settings->maxUnobservedHours);
        $now = $this->context->now();
        $generation = $at === null ? $ranking->publish($now) : $ranking->publishAt($at, max($at, $now));
        $seconds = (hrtime(true) - $started) / 1e9;
        $this->context->log->info(
            sprintf(
                'Published generation %d: %s videos ranked, in %.1f s.',
                $generation->id,
                number_format($generation->videoCount),
                $seconds,
            ),
            [
                'event' => 'published',
                'generation' => $generation->id,
                'videos' => $generation->videoCount,
                'ranks' => $generation->rowCount,
                'formula' => Forecast::VERSION,
                'seconds' => round($seconds, 3),
            ],
        );
        if ($generation->futureCount > 0) {
            $this->context->log->warning(
                sprintf(
                    '%s videos do not rank: their newest observation is of the future. Run `writer repair`.',
                    number_format($generation->futureCount),
                ),
                ['event' => 'observations_in_the_future', 'videos' => $generation->futureCount],
            );
        }
    }
}
