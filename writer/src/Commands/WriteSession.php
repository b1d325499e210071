<?php

declare(strict_types=1);

namespace TrendVault\Writer\Commands;

use Closure;
use SQLite3Exception;
use Throwable;
use TrendVault\Writer\Cli\Context;
use TrendVault\Writer\Cli\ExitCode;
use TrendVault\Writer\Cli\ExitCodes;
use TrendVault\Writer\Database\Database;
use TrendVault\Writer\Database\DatabaseFailure;
use TrendVault\Writer\Database\Migrator;
use TrendVault\Writer\Database\Regions;
use TrendVault\Writer\Database\Run;
use TrendVault\Writer\Database\WriterLock;
use TrendVault\Writer\WriterException;

/** The frame of every command that writes: the lock, the schema, a row in runs. */
final readonly class WriteSession
{
    /** How long a command that a person typed waits for the cron run of that minute. */
    private const int LOCK_TIMEOUT_SECONDS = 10;

    /**
     * @param Closure(Database, Run): ExitCode $work
     * @throws WriterException|SQLite3Exception
     */
    public static function run(
        string $command,
        Context $context,
        Closure $work,
        int $waitSeconds = self::LOCK_TIMEOUT_SECONDS,
    ): ExitCode {
        $path = $context->settings->databasePath;
        if (!is_file($path) && is_dir(dirname($path))) {
            throw DatabaseFailure::missing($path);
        }

        return self::underLock($command, $context, $waitSeconds, static function (Database $database) use (
            $command,
            $context,
            $work,
        ): ExitCode {
            Migrator::of($database, $context->settings->migrationsFolder(), $context->clock)->expectCurrent();

            return self::record($command, $database, $context, $work);
        });
    }

    /**
     * As run(), but makes the database or brings its schema up to date first.
     *
     * @param Closure(Database, Run): ExitCode $work
     * @throws WriterException|SQLite3Exception
     */
    public static function migrateAndRun(
        string $command,
        Context $context,
        Closure $work,
        int $waitSeconds = self::LOCK_TIMEOUT_SECONDS,
    ): ExitCode {
        $context->settings->makeDefaultFolder();

        return self::underLock($command, $context, $waitSeconds, static function (Database $database) use (
            $command,
            $context,
            $work,
        ): ExitCode {
            foreach (
                Migrator::of($database, $context->settings->migrationsFolder(), $context->clock)->migrate()
                as $migration
            ) {
                $context->log->info("Applied migration {$migration->label()}.", [
                    'event' => 'migration_applied',
                    'version' => $migration->version,
                ]);
            }
            Regions::seed($database, $context->settings->regionsFile());

            return self::record($command, $database, $context, $work);
        });
    }

    /** @param Closure(Database): ExitCode $work */
    private static function underLock(
        string $command,
        Context $context,
        int $waitSeconds,
        Closure $work,
    ): ExitCode {
        $settings = $context->settings;
        if (!is_dir(dirname($settings->databasePath))) {
            throw DatabaseFailure::cannotOpen($settings->databasePath);
        }
        $lock = WriterLock::acquire($settings->databasePath, $command, $waitSeconds);
        try {
            $database = Database::openForWriting($settings->databasePath, $settings->busyTimeoutMilliseconds);
            try {
                return $work($database);
            } finally {
                $database->close();
            }
        } finally {
            $lock->release();
        }
    }

    /** @param Closure(Database, Run): ExitCode $work */
    private static function record(
        string $command,
        Database $database,
        Context $context,
        Closure $work,
    ): ExitCode {
        $run = Run::start($database, $command, $context->clock);
        try {
            $exitCode = $work($database, $run);
            $run->finish($exitCode->value, null);

            return $exitCode;
        } catch (Throwable $error) {
            $failure =
                $error instanceof SQLite3Exception
                    ? DatabaseFailure::from($error, $context->settings->databasePath)
                    : $error;
            $run->tryToFinish(ExitCodes::of($failure)->value, $failure->getMessage());
            throw $failure;
        }
    }
}
