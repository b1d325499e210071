<?php

declare(strict_types=1);

namespace TrendVault\Writer\Cli;

use Closure;
use Override;
use Psr\Clock\ClockInterface;
use Psr\Log\LoggerInterface;
use SQLite3Exception;
use Symfony\Component\Console\Command\Command;
use Symfony\Component\Console\Input\InputInterface;
use Symfony\Component\Console\Output\OutputInterface;
use Throwable;
use TrendVault\Writer\Database\Database;
use TrendVault\Writer\Database\DatabaseFailure;
use TrendVault\Writer\Database\Migrator;
use TrendVault\Writer\Database\RegionTable;
use TrendVault\Writer\Database\WriterLock;
use TrendVault\Writer\ExitCode;
use TrendVault\Writer\Observations\ObservationParser;
use TrendVault\Writer\WriterException;

/**
 * A command with the settings read and the database's errors translated. One that writes does so in a frame: the lock,
 * the schema, a row in runs.
 */
abstract class WriterCommand extends Command
{
    /** How long a command that a person typed waits for the cron run of that minute, beside what that one may wait for a store. */
    private const int LOCK_TIMEOUT_SECONDS = 10;

    /** @param array<string, string> $environment */
    final public function __construct(
        private readonly array $environment,
        private readonly ClockInterface $clock,
        private readonly LoggerInterface $log,
    ) {
        parent::__construct();
    }

    /** @throws WriterException */
    #[Override]
    final protected function execute(InputInterface $input, OutputInterface $output): int
    {
        $settings = Settings::read($this->environment, self::option($input, 'db'));
        try {
            return $this->handle($input, new Context($settings, $this->clock, $this->log, $output))->value;
        } catch (SQLite3Exception $error) {
            throw DatabaseFailure::from($error, $settings->databasePath);
        }
    }

    /** The value of an option, null where it was not given: what a library says of a command line has no type. */
    final protected static function option(InputInterface $input, string $name): ?string
    {
        /** @var string|int|float|bool|null $value */
        $value = $input->getOption($name);

        return $value === null ? null : (string) $value;
    }

    /** Whether an option without a value was given. */
    final protected static function isGiven(InputInterface $input, string $name): bool
    {
        return $input->getOption($name) === true;
    }

    /** A line with its control characters as JSON has them: a terminal would follow what others wrote. */
    final protected static function visible(string $line): string
    {
        return (string) preg_replace_callback(
            ObservationParser::FORBIDDEN,
            static fn(array $found): string => sprintf('\u%04x', mb_ord($found[0])),
            $line,
        );
    }

    final protected static function argument(InputInterface $input, string $name): string
    {
        return implode(' ', self::arguments($input, $name));
    }

    /** @return list<string> */
    final protected static function arguments(InputInterface $input, string $name): array
    {
        /** @var list<string>|string|null $value */
        $value = $input->getArgument($name);

        return is_array($value) ? $value : ($value === null ? [] : [$value]);
    }

    /** @throws WriterException|SQLite3Exception */
    abstract protected function handle(InputInterface $input, Context $context): ExitCode;

    /**
     * Runs what writes into the database as it is.
     *
     * @param Closure(Database, int): ExitCode $work gets the id of its row in runs
     * @throws WriterException|SQLite3Exception
     */
    final protected function write(Context $context, Closure $work): ExitCode
    {
        return $this->underLock($context, self::lockSeconds($context), false, function (
            Database $database,
            WriterLock $lock,
        ) use ($context, $work): ExitCode {
            self::migrator($context, $database)->expectCurrent();
            $context->settings->regionTable()->expectSeeded($database);

            return $this->record($context, $database, $lock, $work);
        });
    }

    /**
     * As write(), but brings the schema up to date first.
     *
     * @param Closure(Database, int): ExitCode $work
     * @param bool $mayCreate whether it makes a database where there is none
     * @param ?int $lockSeconds how long to wait for another writer; null for as long as a cron run may take
     * @throws WriterException|SQLite3Exception
     */
    final protected function migrateAndWrite(
        Context $context,
        Closure $work,
        bool $mayCreate = false,
        ?int $lockSeconds = null,
    ): ExitCode {
        if ($mayCreate) {
            $context->settings->makeDefaultFolder();
        }
        $lockSeconds ??= self::lockSeconds($context);

        return $this->underLock($context, $lockSeconds, $mayCreate, function (
            Database $database,
            WriterLock $lock,
        ) use ($context, $work): ExitCode {
            foreach (self::migrator($context, $database)->migrate() as $version => $label) {
                $context->log->info("Applied migration $label.", [
                    'event' => 'migration_applied',
                    'version' => $version,
                ]);
            }
            $context->settings->regionTable()->seed($database);

            return $this->record($context, $database, $lock, $work);
        });
    }

    private static function lockSeconds(Context $context): int
    {
        $publishes = $context->settings->sourceText('PUBLISH_URL') !== null;

        return self::LOCK_TIMEOUT_SECONDS +
            ($publishes ? PublishSettings::mostSeconds($context->settings) : 0);
    }

    final protected static function migrator(Context $context, Database $database): Migrator
    {
        return Migrator::of($database, $context->settings->migrationsFolder(), $context->clock);
    }

    /** @param Closure(Database, WriterLock): ExitCode $work */
    private function underLock(Context $context, int $lockSeconds, bool $mayCreate, Closure $work): ExitCode
    {
        $named = $context->settings->databasePath;
        if (!is_dir(dirname($named))) {
            throw DatabaseFailure::cannotOpen($named);
        }
        $path = WriterLock::resolve($named);
        if (!$mayCreate && !Database::isThere($path)) {
            throw DatabaseFailure::missing($named);
        }
        $lock = WriterLock::acquire($path, (string) $this->getName(), $lockSeconds);
        try {
            $database = Database::openForWriting($path, mayCreate: $mayCreate);
            try {
                return $work($database, $lock);
            } finally {
                $database->close();
            }
        } finally {
            $lock->release();
        }
    }

    /**
     * Adds the row, and its end with the exit code. When the database itself fails, the row stays unfinished, as after a
     * kill.
     *
     * @param Closure(Database, int): ExitCode $work
     */
    private function record(Context $context, Database $database, WriterLock $lock, Closure $work): ExitCode
    {
        RegionTable::raiseNumbers($database, $lock->lastGeneration());
        $database->run('INSERT INTO runs (command, started_at) VALUES (?, ?)', [
            (string) $this->getName(),
            $context->now(),
        ]);
        $run = $database->connection->lastInsertRowID();
        $finish = static fn(ExitCode $exitCode, ?string $error): int => $database->run(
            'UPDATE runs SET finished_at = ?, exit_code = ?, error = ? WHERE id = ?',
            [$context->now(), $exitCode->value, $error, $run],
        );
        try {
            $exitCode = $work($database, $run);
            $finish($exitCode, null);
            $lock->keep(RegionTable::lastNumber($database));

            return $exitCode;
        } catch (Throwable $error) {
            $failure =
                $error instanceof SQLite3Exception
                    ? DatabaseFailure::from($error, $context->settings->databasePath)
                    : $error;
            try {
                $finish(WriterException::exitCodeOf($failure), $failure->getMessage());
            } catch (SQLite3Exception) {
            }
            throw $failure;
        }
    }
}
