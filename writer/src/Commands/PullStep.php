<?php

declare(strict_types=1);

namespace TrendVault\Writer\Commands;

use Symfony\Component\HttpClient\HttpClient;
use TrendVault\Writer\Cli\Context;
use TrendVault\Writer\Database\Database;
use TrendVault\Writer\ExitCode;
use TrendVault\Writer\Pull\Ceiling;
use TrendVault\Writer\Pull\EdgePull;
use TrendVault\Writer\Pull\PulledCounts;
use TrendVault\Writer\Pull\Settlement;
use TrendVault\Writer\Pull\ShardStore;
use TrendVault\Writer\Sources\Edge\EdgeClient;
use TrendVault\Writer\Sources\Edge\EdgeSettings;
use TrendVault\Writer\Sources\RunTime;
use TrendVault\Writer\Sources\Schedule;
use TrendVault\Writer\Sources\SideBySide;
use TrendVault\Writer\Sources\SourceFailure;
use TrendVault\Writer\WriterException;

/** Pulls what visitors of the lists did from the edge, counts the impressions of the minutes that are complete, and logs both. */
final readonly class PullStep
{
    private const int MOST_HOST_BYTES = 190;

    public function __construct(private Context $context, private Database $database) {}

    /**
     * @param string $name the source, such as edge:https://lists.example
     * @return ?ExitCode null when every shard answered, or the edge is not asked yet
     * @throws SourceFailure|WriterException
     */
    public function run(string $name, RunTime $time): ?ExitCode
    {
        $settings = EdgeSettings::of($this->context->settings, $name);
        $schedule = new Schedule(
            $this->database,
            'edge:' . substr((string) parse_url($settings->url, PHP_URL_HOST), 0, self::MOST_HOST_BYTES),
            intervalSeconds: 0,
            longestDelaySeconds: Schedule::LONGEST_DELAY_OF_EACH_RUN,
        );
        $pause = $schedule->pause($this->context->now());
        $pause?->log($this->context->log);
        $failures = $pause === null ? $this->pull($name, $settings, $schedule, $time) : [];
        $this->settle($settings->ceilingFactor);
        if ($failures === []) {
            return null;
        }
        $this->context->log->error(implode(' ', $failures), [
            'event' => 'source_failed',
            'source' => $name,
        ]);

        return ExitCode::SourceFailed;
    }

    /**
     * @return list<string> why some shards did not answer
     * @throws WriterException
     */
    private function pull(string $name, EdgeSettings $settings, Schedule $schedule, RunTime $time): array
    {
        $started = hrtime(true);
        $pull = new EdgePull(
            new EdgeClient(
                HttpClient::create([], SideBySide::MOST),
                $settings->url,
                $settings->keys,
                $this->context->clock,
                $time->secondsLeft(),
            ),
            new ShardStore($this->database, $this->context->settings->regions()),
            $this->context->clock,
        );
        [$pulled, $failures] = $pull->run();
        $this->logPulled($name, $pulled, (hrtime(true) - $started) / 1e9);
        if ($pulled === [] && $pull->isSilent()) {
            $schedule->begin($this->context->now());
            $schedule->fail(
                implode(' ', $failures) . ' Does its address answer here (curl -I)?',
                0,
                $this->context->now(),
            );
        } elseif ($schedule->askedAt() > 0) {
            $schedule->succeed();
        }

        return $failures;
    }

    /** @param array<string, PulledCounts> $pulled by shard */
    private function logPulled(string $name, array $pulled, float $seconds): void
    {
        $sum = new PulledCounts();
        array_map($sum->addAll(...), $pulled);
        $this->context->log->info(
            sprintf(
                'Pulled %s impressions and %s clicks of %s lists from %d shards, in %.1f s.',
                number_format($sum->impressions),
                number_format($sum->clicks),
                number_format($sum->lists),
                count($pulled),
                $seconds,
            ),
            [
                'event' => 'pulled',
                'source' => $name,
                'shards' => count($pulled),
                'impressions' => $sum->impressions,
                'clicks' => $sum->clicks,
                'lists' => $sum->lists,
                'seconds' => round($seconds, 3),
            ],
        );
        foreach ($pulled as $shard => $counts) {
            $this->warnOfLoss($shard, $counts);
        }
    }

    private function warnOfLoss(string $shard, PulledCounts $counts): void
    {
        if ($counts->lostMinutes > 0) {
            $this->context->log->warning(
                "The counts of $counts->lostMinutes minutes of $shard are lost: the edge keeps them for 48 hours, and they were not pulled in that time.",
                ['event' => 'minutes_lost', 'shard' => $shard, 'minutes' => $counts->lostMinutes],
            );
        }
        if ($counts->lateImpressions + $counts->lateClicks > 0) {
            $this->context->log->warning(
                "$counts->lateImpressions impressions and $counts->lateClicks clicks of $shard came too late to rank: their minutes were settled without them, after 49 hours.",
                [
                    'event' => 'impressions_late',
                    'shard' => $shard,
                    'impressions' => $counts->lateImpressions,
                    'clicks' => $counts->lateClicks,
                ],
            );
        }
    }

    private function settle(float $ceilingFactor): void
    {
        $settled = new Settlement($this->database, new Ceiling($ceilingFactor))->settle(
            $this->context->now(),
        );
        if ($settled->minutes === 0) {
            return;
        }
        $this->context->log->info(
            sprintf(
                'Counted %s impressions and %s clicks of %d minutes; the ceiling cut %.1f %%.',
                number_format($settled->impressions),
                number_format($settled->clicks),
                $settled->minutes,
                100 * $settled->cutShare(),
            ),
            [
                'event' => 'impressions_counted',
                'minutes' => $settled->minutes,
                'impressions' => round($settled->impressions, 3),
                'clicks' => round($settled->clicks, 3),
                'cut_share' => round($settled->cutShare(), 6),
                'unknown' => $settled->unknown,
            ],
        );
    }
}
