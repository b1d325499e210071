<?php

declare(strict_types=1);

namespace TrendVault\Writer\Commands;

use Override;
use Symfony\Component\Console\Attribute\AsCommand;
use Symfony\Component\Console\Input\InputInterface;
use TrendVault\Writer\Cli\Context;
use TrendVault\Writer\Cli\WriterCommand;
use TrendVault\Writer\Database\Database;
use TrendVault\Writer\ExitCode;
use TrendVault\Writer\Ranking\VelocityRepair;
use TrendVault\Writer\Sources\RejectStore;
use TrendVault\Writer\Time\Rfc3339;

#[AsCommand('repair', 'Puts right what a wrong clock has stored, and publishes a generation')]
final class Repair extends WriterCommand
{
    private const string HELP = <<<'TEXT'
    Set the clock first. Observations that are later than it by more than five minutes are moved to
    rejected/ beside the database, as NDJSON. The velocities of their videos, and those that
    are lost, are rebuilt from the history; the others stay as they are. Then a generation is
    published as of now, whatever the time of the newest one. A second run changes nothing more.
    TEXT;

    #[Override]
    protected function configure(): void
    {
        $this->setHelp(self::HELP);
    }

    #[Override]
    protected function handle(InputInterface $input, Context $context): ExitCode
    {
        return $this->write($context, static function (Database $database, int $run) use (
            $context,
        ): ExitCode {
            $rejects = RejectStore::lines($context->settings->rejectedFolder(), "repair-$run");
            $result = new VelocityRepair($database)->repair(
                $context->now(),
                /** @param iterable<array<string, int|string|null>> $observations */
                static function (iterable $observations) use ($rejects): void {
                    self::keep($observations, $rejects);
                },
            );
            self::log($context, $result);
            new RankStep($context, $database)->run($context->now());

            return ExitCode::Ok;
        });
    }

    /**
     * @param iterable<array<string, int|string|null>> $observations
     * @throws SourceFailure
     */
    private static function keep(iterable $observations, RejectStore $rejects): void
    {
        foreach ($observations as $observation) {
            $rejects->keep(self::line($observation));
        }
        $rejects->finish();
    }

    /** @param array{future_observations: int, rebuilt_velocities: int, deleted_velocities: int} $result */
    private static function log(Context $context, array $result): void
    {
        $context->log->info(
            sprintf(
                'Repaired: %s observations of the future moved to rejected/, %s velocities rebuilt, %s deleted.',
                ...array_values(array_map(number_format(...), $result)),
            ),
            ['event' => 'repaired', ...$result],
        );
    }

    /** @param array<string, int|string|null> $observation a row of observations */
    private static function line(array $observation): string
    {
        $fields = [
            'id' => $observation['video_id'],
            'region' => $observation['region'],
            'observed_at' => Rfc3339::format((int) $observation['observed_at']),
            'views' => $observation['views'],
            'likes' => $observation['likes'],
            'comments' => $observation['comments'],
        ];

        return json_encode(array_filter($fields, is_scalar(...)), JSON_THROW_ON_ERROR) . "\n";
    }
}
