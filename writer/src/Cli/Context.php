<?php

declare(strict_types=1);

namespace TrendVault\Writer\Cli;

use Psr\Clock\ClockInterface;
use Psr\Log\LoggerInterface;
use Symfony\Component\Console\Helper\ProgressBar;
use Symfony\Component\Console\Output\ConsoleOutputInterface;
use Symfony\Component\Console\Output\OutputInterface;
use TrendVault\Writer\Database\Database;
use TrendVault\Writer\Database\DatabaseFailure;
use TrendVault\Writer\Database\Migrator;
use TrendVault\Writer\WriterException;

/** What every command and every kind of source is given. */
final readonly class Context
{
    public function __construct(
        public Settings $settings,
        public ClockInterface $clock,
        public LoggerInterface $log,
        private OutputInterface $output,
    ) {}

    /**
     * The database for a command that only looks: it has to be there, with this writer's schema.
     *
     * @throws DatabaseFailure when there is no such file
     * @throws WriterException
     */
    public function openForReading(): Database
    {
        $path = $this->settings->databasePath;
        if (!Database::isThere($path)) {
            throw DatabaseFailure::missing($path);
        }
        $database = Database::openForReading($path);
        Migrator::of($database, $this->settings->migrationsFolder(), $this->clock)->expectCurrent();

        return $database;
    }

    /** UTC seconds since 1970. */
    public function now(): int
    {
        return $this->clock->now()->getTimestamp();
    }

    /** Writes the command's result to standard output, as it is. */
    public function write(string $text): void
    {
        $this->output->write($text, false, OutputInterface::OUTPUT_RAW);
    }

    /** Asks at a terminal and says whether the answer was yes; null elsewhere. */
    public function confirm(string $question): ?bool
    {
        if (!stream_isatty(STDIN) || !stream_isatty(STDERR)) {
            return null;
        }
        fwrite(STDERR, "$question [y/N] ");

        return preg_match('/^y(es)?$/i', trim((string) fgets(STDIN))) === 1;
    }

    /** A bar of a hundred steps on standard error, at a terminal only; null elsewhere. */
    public function progressBar(string $label): ?ProgressBar
    {
        $output =
            $this->output instanceof ConsoleOutputInterface ? $this->output->getErrorOutput() : $this->output;
        if (!$output->isDecorated() || $output->isQuiet()) {
            return null;
        }
        $bar = new ProgressBar($output, 100, minSecondsBetweenRedraws: 0.1);
        $bar->setFormat('%message% %bar% %percent:3s% %');
        $bar->setMessage($label);

        return $bar;
    }
}
