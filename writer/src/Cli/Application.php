<?php

declare(strict_types=1);

namespace TrendVault\Writer\Cli;

use SQLite3Exception;
use Throwable;
use TrendVault\Writer\Commands;
use TrendVault\Writer\Database\DatabaseFailure;
use TrendVault\Writer\Time\SystemClock;
use TrendVault\Writer\WriterException;

/** From the words of a command line to an exit code. The only place where failures become messages. */
final readonly class Application
{
    /** @param array<string, string> $environment */
    public function __construct(private array $environment, private Streams $streams, private Log $log) {}

    /** @param list<string> $words without the program's name */
    public function run(array $words): ExitCode
    {
        $name = array_shift($words) ?? '--help';
        try {
            if ($name === '--help' || $name === 'help') {
                return $this->help();
            }

            return $this->runCommand($this->command($name), $words);
        } catch (WriterException $failure) {
            return $this->fail($failure);
        } catch (Throwable $bug) {
            $this->log->error('bug', "Stopped by a bug: {$bug->getMessage()}", [
                'where' => "{$bug->getFile()}:{$bug->getLine()}",
                'trace' => $bug->getTraceAsString(),
            ]);

            return ExitCode::Internal;
        }
    }

    /** @param list<string> $words */
    private function runCommand(Command $command, array $words): ExitCode
    {
        $description = $command->description();
        $arguments = Arguments::parse($words, $description->options);
        if ($arguments->has('help')) {
            $this->streams->write($description->help());

            return ExitCode::Ok;
        }
        $settings = Settings::read($this->environment, $arguments->value('db'));
        try {
            return $command->run(
                $arguments,
                new Context($settings, new SystemClock(), $this->streams, $this->log),
            );
        } catch (SQLite3Exception $error) {
            throw DatabaseFailure::from($error, $settings->databasePath);
        }
    }

    private function command(string $name): Command
    {
        $names = array_map(
            static fn(Command $command): string => $command->description()->name,
            self::commands(),
        );

        return array_combine($names, self::commands())[$name] ??
            throw UsageError::unknownCommand($name, $names);
    }

    /** @return list<Command> */
    private static function commands(): array
    {
        return [
            new Commands\Migrate(),
            new Commands\Ingest(),
            new Commands\Rank(),
            new Commands\Prune(),
            new Commands\Cron(),
            new Commands\Status(),
            new Commands\Explain(),
            new Commands\Backtest(),
            new Commands\Schema(),
        ];
    }

    private function help(): ExitCode
    {
        $this->streams->write(
            "The writer of TrendVault: stores view counts, ranks them, publishes generations.\n\nUsage: writer COMMAND [options]\n\n",
        );
        foreach (self::commands() as $command) {
            $description = $command->description();
            $this->streams->write(sprintf("  %-10s %s\n", $description->name, $description->summary));
        }
        $this->streams->write(
            "\nwriter COMMAND --help tells more. docs/operations.md lists settings and exit codes.\n",
        );

        return ExitCode::Ok;
    }

    private function fail(WriterException $failure): ExitCode
    {
        $exitCode = ExitCodes::of($failure);
        $this->log->error('failed', $failure->getMessage(), ['exit_code' => $exitCode->value]);

        return $exitCode;
    }
}
