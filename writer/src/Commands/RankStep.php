<?php

declare(strict_types=1);

namespace TrendVault\Writer\Commands;

use TrendVault\Writer\Cli\Context;
use TrendVault\Writer\Cli\RegionSettings;
use TrendVault\Writer\Cli\UsageError;
use TrendVault\Writer\Database\ClockRecord;
use TrendVault\Writer\Database\Database;
use TrendVault\Writer\Ranking\ClockBackwards;
use TrendVault\Writer\Ranking\EmptyPublication;
use TrendVault\Writer\Ranking\Forecast;
use TrendVault\Writer\Ranking\RankingPublisher;
use TrendVault\Writer\Retention\Cutoff;

/** Publishes a generation and logs it. */
final readonly class RankStep
{
    public function __construct(private Context $context, private Database $database) {}

    /**
     * @param ?int $at UTC seconds; null for now, if the clock can be believed
     * @param bool $allowsEmpty whether a list may become empty that is not
     * @throws ClockBackwards|EmptyPublication|UsageError
     */
    public function run(?int $at = null, bool $allowsEmpty = false): void
    {
        self::allowMemory();
        $started = hrtime(true);
        $ranking = new RankingPublisher(
            $this->database,
            $this->context->settings->maxUnobservedHours,
            $this->context->settings->exploreShare,
            SourceKinds::of($this->context->settings->sources),
            RegionSettings::of($this->context->settings),
        );
        $now = $this->context->now();
        $fullSince = $allowsEmpty ? null : $this->fullSince($now);
        $generation =
            $at === null
                ? $ranking->publish($now, $fullSince)
                : $ranking->publishAt($at, max($at, $now), $fullSince);
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

    /**
     * The lists of 250 regions take some 500 MB while they are made, and PHP's own limit is 128. A larger one, or none,
     * stays. Not for the whole program: what others send is read within the smaller one.
     */
    private static function allowMemory(): void
    {
        $limit = ini_parse_quantity((string) ini_get('memory_limit'));
        if ($limit > 0 && $limit < 1 << 30) {
            ini_set('memory_limit', '1G');
        }
    }

    /** A region that was not observed for KEEP_DAYS loses its list by age: it must not keep the others from being published. */
    private function fullSince(int $now): int
    {
        return new ClockRecord($this->database)->isSteady($now)
            ? Cutoff::byClock($now, $this->context->settings->keepDays)
            : 0;
    }
}
