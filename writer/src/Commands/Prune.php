<?php

declare(strict_types=1);

namespace TrendVault\Writer\Commands;

use Override;
use Symfony\Component\Console\Attribute\AsCommand;
use Symfony\Component\Console\Input\InputInterface;
use Symfony\Component\Console\Input\InputOption;
use TrendVault\Writer\Cli\Context;
use TrendVault\Writer\Cli\WriterCommand;
use TrendVault\Writer\Database\Database;
use TrendVault\Writer\ExitCode;
use TrendVault\Writer\Retention\Cutoff;
use TrendVault\Writer\Retention\Pruning;
use TrendVault\Writer\Time\Rfc3339;

#[
    AsCommand(
        'prune',
        'Deletes generations and observations that are older than the settings keep, and truncates the WAL',
    ),
]
final class Prune extends WriterCommand
{
    #[Override]
    protected function configure(): void
    {
        $this->addOption(
            'by-clock',
            mode: InputOption::VALUE_NONE,
            description: 'The clock is right: delete what is older than OBSERVATION_RETENTION_HOURS by it, without waiting for a day',
        );
    }

    #[Override]
    protected function handle(InputInterface $input, Context $context): ExitCode
    {
        $trustsClock = self::isGiven($input, 'by-clock');

        return $this->write($context, static function (Database $database) use (
            $context,
            $trustsClock,
        ): ExitCode {
            new PruneStep($context, $database)->run($trustsClock);

            return ExitCode::Ok;
        });
    }
}

/** Prunes by the settings and logs what was deleted. */
final readonly class PruneStep
{
    public function __construct(private Context $context, private Database $database) {}

    /** @param bool $trustsClock when an operator says that the clock is right */
    public function run(bool $trustsClock = false): void
    {
        [$settings, $now] = [$this->context->settings, $this->context->now()];
        $cutoff = new Cutoff($this->database)->of($now, $settings->observationRetentionHours, $trustsClock);
        $pruning = new Pruning($this->database);
        $pruned = $pruning->prune($cutoff, $settings->generationRetentionSeconds);
        $pruning->forgetUnasked(SourceKinds::forgetting(), $now);
        $this->warnOfOldObservations($now);
        $this->context->log->info(
            sprintf(
                'Pruned %d generations, %s observations, %s videos.',
                $pruned['generations'],
                number_format($pruned['observations']),
                number_format($pruned['videos']),
            ),
            ['event' => 'pruned', ...$pruned],
        );
    }

    private function warnOfOldObservations(int $now): void
    {
        $hours = $this->context->settings->observationRetentionHours;
        $oldest = $this->database->number('SELECT min(observed_at) FROM observations');
        if ($oldest !== null && $oldest < Cutoff::byClock($now, $hours)) {
            $this->context->log->warning(
                sprintf(
                    'Observations since %s stay although they are older than %d hours: no run of yesterday is recorded, so the clock (%s) may be wrong. They are deleted when it has run on for a day, or by `writer prune --by-clock`.',
                    Rfc3339::format($oldest),
                    $hours,
                    Rfc3339::format($now),
                ),
                ['event' => 'clock_not_steady', 'oldest_observed_at' => Rfc3339::format($oldest)],
            );
        }
    }
}
