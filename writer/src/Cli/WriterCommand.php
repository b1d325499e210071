<?php

declare(strict_types=1);

namespace TrendVault\Writer\Cli;

use Override;
use Psr\Clock\ClockInterface;
use Psr\Log\LoggerInterface;
use SQLite3Exception;
use Symfony\Component\Console\Command\Command;
use Symfony\Component\Console\Input\InputInterface;
use Symfony\Component\Console\Output\OutputInterface;
use TrendVault\Writer\Database\DatabaseFailure;
use TrendVault\Writer\ExitCode;
use TrendVault\Writer\WriterException;

/** A command with the settings read and the database's errors translated. */
abstract class WriterCommand extends Command
{
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
}
