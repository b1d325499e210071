<?php

declare(strict_types=1);

namespace TrendVault\Writer;

use Override;
use Psr\Clock\ClockInterface;
use Psr\Log\LoggerInterface;
use Symfony\Component\Console\Application as ConsoleApplication;
use Symfony\Component\Console\Command\CompleteCommand;
use Symfony\Component\Console\Command\DumpCompletionCommand;
use Symfony\Component\Console\Command\HelpCommand;
use Symfony\Component\Console\Command\ListCommand;
use Symfony\Component\Console\CommandLoader\FactoryCommandLoader;
use Symfony\Component\Console\Exception\ExceptionInterface;
use Symfony\Component\Console\Helper\HelperSet;
use Symfony\Component\Console\Input\ArrayInput;
use Symfony\Component\Console\Input\InputDefinition;
use Symfony\Component\Console\Input\InputInterface;
use Symfony\Component\Console\Input\InputOption;
use Symfony\Component\Console\Output\ConsoleOutput;
use Symfony\Component\Console\Output\OutputInterface;
use Throwable;

/** The commands, and the only place where failures become messages and exit codes. */
final class Application extends ConsoleApplication
{
    /** @var array<string, class-string<Cli\WriterCommand>> */
    private const array COMMANDS = [
        'migrate' => Commands\Migrate::class,
        'ingest' => Commands\Ingest::class,
        'rank' => Commands\Rank::class,
        'prune' => Commands\Prune::class,
        'cron' => Commands\Cron::class,
        'publish' => Commands\Publish::class,
        'publication-keys' => Commands\PublicationKeys::class,
        'backup' => Commands\Backup::class,
        'restore' => Commands\Restore::class,
        'repair' => Commands\Repair::class,
        'remove' => Commands\Remove::class,
        'allow' => Commands\Allow::class,
        'erase' => Commands\Erase::class,
        'pin' => Commands\Pin::class,
        'rule' => Commands\Rule::class,
        'hold' => Commands\Hold::class,
        'editorial' => Commands\Editorial::class,
        'check' => Commands\Check::class,
        'status' => Commands\Status::class,
        'explain' => Commands\Explain::class,
        'backtest' => Commands\Backtest::class,
        'simulate' => Commands\Simulate::class,
        'schema' => Commands\Schema::class,
    ];
    /** @param array<string, string> $environment */
    public function __construct(
        array $environment,
        ClockInterface $clock,
        private readonly LoggerInterface $log,
    ) {
        parent::__construct('The writer of TrendVault');
        $this->setAutoExit(false);
        $this->setCatchExceptions(false);
        $this->setCommandLoader(
            new FactoryCommandLoader([
                ...array_map(
                    /** @param class-string<Cli\WriterCommand> $class */
                    static fn(string $class): callable => static fn() => new $class(
                        $environment,
                        $clock,
                        $log,
                    ),
                    self::COMMANDS,
                ),
                '_complete' => static fn() => new CompleteCommand(),
                'help' => static fn() => new HelpCommand(),
                'list' => static fn() => new ListCommand(),
                'manual' => static fn() => new Commands\Manual(),
                'completion' => self::completion(...),
            ]),
        );
    }

    #[Override]
    public function run(?InputInterface $input = null, ?OutputInterface $output = null): int
    {
        try {
            return parent::run($input, $output);
        } catch (Throwable $error) {
            return $this->fail($error)->value;
        }
    }

    /** `writer --help` lists the commands: the library would explain its command `list`. */
    #[Override]
    public function doRun(InputInterface $input, OutputInterface $output): int
    {
        $onlyHelp = $input->getFirstArgument() === null && $input->hasParameterOption(['--help', '-h'], true);

        return parent::doRun($onlyHelp ? new ArrayInput(['command' => 'list']) : $input, $output);
    }

    #[Override]
    protected function getDefaultInputDefinition(): InputDefinition
    {
        $definition = parent::getDefaultInputDefinition();
        $definition->addOption(
            new InputOption(
                'db',
                mode: InputOption::VALUE_REQUIRED,
                description: 'The database file (default: DB_PATH, or data/trendvault.db in the project)',
            ),
        );

        return $definition;
    }

    /** All commands are loaded when they are called. */
    #[Override]
    protected function getDefaultCommands(): array
    {
        return [];
    }

    #[Override]
    protected function getDefaultHelperSet(): HelperSet
    {
        return new HelperSet();
    }

    /** The library's help would name a file `writer` of the current folder as the program. */
    private static function completion(): DumpCompletionCommand
    {
        $command = new DumpCompletionCommand();
        $help = preg_replace('/(?<=\$\().*(?= completion )/', 'writer', $command->getHelp());

        return $command->setHelp((string) $help);
    }

    private function fail(Throwable $error): ExitCode
    {
        $exitCode = WriterException::exitCodeOf($error);
        if ($error instanceof WriterException || $error instanceof ExceptionInterface) {
            $sentence = $error instanceof ExceptionInterface ? self::sentence($error) : $error->getMessage();
            $this->log->error($sentence, ['event' => 'failed', 'exit_code' => $exitCode->value]);
        } else {
            $this->log->error("Stopped by a bug: {$error->getMessage()}", [
                'event' => 'bug',
                'where' => "{$error->getFile()}:{$error->getLine()}",
                'trace' => $error->getTraceAsString(),
            ]);
        }

        return $exitCode;
    }

    /** What the library says in several lines, in one, and what to do. */
    private static function sentence(ExceptionInterface $error): string
    {
        $said = rtrim((string) preg_replace('/\s+/', ' ', $error->getMessage()), ' .');
        $advice = str_ends_with($said, 'option does not exist')
            ? 'See writer --help; a value that starts with a hyphen goes after --.'
            : 'See writer --help.';

        return "$said. $advice";
    }
}

/** Standard output, and standard error for the log. The library would ignore that a result cannot be written. */
final class StandardOutput extends ConsoleOutput
{
    /** @throws WriterException */
    #[Override]
    protected function doWrite(string $message, bool $newline): void
    {
        $text = $newline ? $message . PHP_EOL : $message;
        if (@fwrite($this->getStream(), $text) !== strlen($text) || !@fflush($this->getStream())) {
            throw new WriterException(
                'Cannot write the result to standard output: the disk is full, or nobody reads the pipe.',
                ExitCode::OutputFailed,
            );
        }
    }
}
