<?php

declare(strict_types=1);

namespace TrendVault\Writer\Commands;

use Override;
use Symfony\Component\Console\Attribute\AsCommand;
use Symfony\Component\Console\Input\InputInterface;
use TrendVault\Writer\Cli\BackupSettings;
use TrendVault\Writer\Cli\Context;
use TrendVault\Writer\Cli\PublishSettings;
use TrendVault\Writer\Cli\WriterCommand;
use TrendVault\Writer\Database\Database;
use TrendVault\Writer\ExitCode;
use TrendVault\Writer\Ranking\NotPublished;

#[
    AsCommand(
        'cron',
        'Migrates a database that is there, ingests SOURCES, ranks and prunes; cron runs it every minute',
    ),
]
final class Cron extends WriterCommand
{
    #[Override]
    protected function configure(): void
    {
        $this->setHelp(
            'When a source fails, the other sources are ingested and a generation is published all the same; the exit code is 4.',
        );
    }

    #[Override]
    protected function handle(InputInterface $input, Context $context): ExitCode
    {
        $work = static function (Database $database, int $run) use ($context): ExitCode {
            $exitCode = new IngestStep($context, $database, $run)->run($context->settings->sources);
            $refusal = self::rank($context, $database);
            new PruneStep($context, $database)->run();
            $unpublished = self::publish($context, $database);
            $notBackedUp = self::backUp($context, $database);
            $damage = Check::daily($context, $database);

            return $refusal === null
                ? $damage ?? ($unpublished ?? ($notBackedUp ?? $exitCode))
                : throw $refusal;
        };

        try {
            return $this->migrateAndWrite($context, $work, lockSeconds: 0);
        } finally {
            Status::writeMetrics($context);
        }
    }

    /** Null when the store has everything, or none is set. */
    private static function publish(Context $context, Database $database): ?ExitCode
    {
        $step = PublishSettings::isSet($context->settings) ? new PublishStep($context, $database) : null;

        return $step?->isDue() === true ? $step->run() : null;
    }

    /** Null when there is one of today, or none is wanted. */
    private static function backUp(Context $context, Database $database): ?ExitCode
    {
        $step = BackupSettings::isSet($context->settings) ? new BackupStep($context, $database) : null;

        return $step?->isDue() === true ? $step->run() : null;
    }

    /** Why nothing was published, if that is so: what is too old is deleted all the same. */
    private static function rank(Context $context, Database $database): ?NotPublished
    {
        if (!self::hasVideos($database)) {
            self::warnOfNoVideos($context);

            return null;
        }
        try {
            new RankStep($context, $database)->run();

            return null;
        } catch (NotPublished $refusal) {
            return $refusal;
        }
    }

    /** Whether there is something to rank, or to take out of the lists. */
    private static function hasVideos(Database $database): bool
    {
        return $database->value('SELECT 1 FROM velocity LIMIT 1') !== null ||
            $database->value('SELECT 1 FROM catalogue LIMIT 1') !== null ||
            $database->value('SELECT 1 FROM generations WHERE video_count > 0 LIMIT 1') !== null;
    }

    private static function warnOfNoVideos(Context $context): void
    {
        $advice =
            $context->settings->sources === []
                ? ', and SOURCES is not set. Set it to one or more of ' . SourceKinds::forms()
                : ' yet';
        $context->log->warning("Nothing was published: no view counts are stored$advice.", [
            'event' => 'nothing_to_publish',
        ]);
    }
}
