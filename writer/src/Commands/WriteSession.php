<?php

declare(strict_types=1);

namespace TrendVault\Writer\Commands;

use Closure;
use SQLite3Exception;
use Throwable;
use TrendVault\Writer\Cli\Context;
use TrendVault\Writer\Cli\PublishSettings;
use TrendVault\Writer\Database\Database;
use TrendVault\Writer\Database\DatabaseFailure;
use TrendVault\Writer\Database\Migrator;
use TrendVault\Writer\Database\Run;
use TrendVault\Writer\Database\WriterLock;
use TrendVault\Writer\ExitCode;
use TrendVault\Writer\WriterException;

/** The frame of every command that writes: the lock, the schema, a row in runs. */
final readonly class WriteSession
{
    /** How long a command that a person typed waits for the cron run of that minute, beside what that one may wait for a store. */
    private const int LOCK_TIMEOUT_SECONDS = 10;

    /**
     * @param string $command its name, for the lock and the row in runs
     * @param ?int $lockTimeoutSeconds null for as long as a cron run may take
     */
    public function __construct(
        private string $command,
        private Context $context,
        private ?int $lockTimeoutSeconds = null,
    ) {}

    /**
     * @param Closure(Database, Run): ExitCode $work
     * @throws WriterException|SQLite3Exception
     */
    public function run(Closure $work): ExitCode
    {
        return $this->underLock(false, function (Database $database) use ($work): ExitCode {
            $this->migrator($database)->expectCurrent();
            $this->context->settings->regionTable()->expectSeeded($database);

            return $this->record($database, $work);
        });
    }

    /**
     * As run(), but brings the schema up to date first.
     *
     * @param Closure(Database, Run): ExitCode $work
     * @param bool $mayCreate whether it makes a database where there is none
     * @throws WriterException|SQLite3Exception
     */
    public function migrateAndRun(Closure $work, bool $mayCreate = false): ExitCode
    {
        if ($mayCreate) {
            $this->context->settings->makeDefaultFolder();
        }

        return $this->underLock($mayCreate, function (Database $database) use ($work): ExitCode {
            foreach ($this->migrator($database)->migrate() as $version => $label) {
                $this->context->log->info("Applied migration $label.", [
                    'event' => 'migration_applied',
                    'version' => $version,
                ]);
            }
            $this->context->settings->regionTable()->seed($database);

            return $this->record($database, $work);
        });
    }

    private function migrator(Database $database): Migrator
    {
        return Migrator::of($database, $this->context->settings->migrationsFolder(), $this->context->clock);
    }

    /** @param Closure(Database): ExitCode $work */
    private function underLock(bool $mayCreate, Closure $work): ExitCode
    {
        $settings = $this->context->settings;
        if (!is_dir(dirname($settings->databasePath))) {
            throw DatabaseFailure::cannotOpen($settings->databasePath);
        }
        $path = WriterLock::resolve($settings->databasePath);
        if (!$mayCreate && !Database::isThere($path)) {
            throw DatabaseFailure::missing($settings->databasePath);
        }
        $lock = WriterLock::acquire(
            $path,
            $this->command,
            $this->lockTimeoutSeconds ??
                self::LOCK_TIMEOUT_SECONDS +
                    ($settings->sourceText('PUBLISH_URL') === null
                        ? 0
                        : PublishSettings::mostSeconds($settings)),
        );
        try {
            $database = Database::openForWriting($path, mayCreate: $mayCreate);
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
    private function record(Database $database, Closure $work): ExitCode
    {
        $run = Run::start($database, $this->command, $this->context->clock);
        try {
            $exitCode = $work($database, $run);
            $run->finish($exitCode->value, null);

            return $exitCode;
        } catch (Throwable $error) {
            $failure =
                $error instanceof SQLite3Exception
                    ? DatabaseFailure::from($error, $this->context->settings->databasePath)
                    : $error;
            $run->tryToFinish(ExitCode::of($failure)->value, $failure->getMessage());
            throw $failure;
        }
    }
}
