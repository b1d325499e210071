<?php

declare(strict_types=1);

namespace TrendVault\Writer\Commands;

use LogicException;
use Override;
use Symfony\Component\Console\Attribute\AsCommand;
use Symfony\Component\Console\Command\Command;
use Symfony\Component\Console\Input\InputArgument;
use Symfony\Component\Console\Input\InputInterface;
use Symfony\Component\Console\Input\InputOption;
use Symfony\Component\Console\Output\OutputInterface;

/** A page about all commands, of what they say of themselves, from which --help and completion are made, too. */
#[AsCommand('manual', 'Prints a page about all commands, in Markdown')]
final class Manual extends Command
{
    private const array OF_THE_LIBRARY = ['_complete', 'completion', 'help', 'list'];

    #[Override]
    protected function execute(InputInterface $input, OutputInterface $output): int
    {
        $application =
            $this->getApplication() ?? throw new LogicException('The manual is of an application.');
        $commands = array_diff_key($application->all(), array_flip(self::OF_THE_LIBRARY));
        ksort($commands);
        $parts = [
            '# writer: every command',
            'Settings, exit codes and how to run it are in docs/operations.md. An installed `trendvault` takes the same commands.',
            'Every command has these options:',
            self::items([], $application->getDefinition()->getOptions()),
            ...array_map(self::section(...), array_values($commands)),
        ];
        $output->write(
            (string) preg_replace('~</?(info|comment)>~', '', implode("\n\n", $parts)) . "\n",
            options: OutputInterface::OUTPUT_RAW,
        );

        return self::SUCCESS;
    }

    private static function section(Command $command): string
    {
        $definition = $command->getNativeDefinition();
        $parts = [
            "## {$command->getName()}",
            "{$command->getDescription()}.",
            "    writer {$command->getName()} {$definition->getSynopsis()}",
            self::items($definition->getArguments(), $definition->getOptions()),
            $command->getHelp() === '' ? '' : $command->getProcessedHelp(),
        ];

        return implode("\n\n", array_filter(array_map(rtrim(...), $parts)));
    }

    /**
     * @param InputArgument[] $arguments
     * @param InputOption[] $options
     */
    private static function items(array $arguments, array $options): string
    {
        $items = [
            ...array_map(
                static fn(
                    InputArgument $argument,
                ): string => "- `{$argument->getName()}`: {$argument->getDescription()}",
                array_values($arguments),
            ),
            ...array_map(
                static fn(InputOption $option): string => '- `' .
                    self::name($option) .
                    "`: {$option->getDescription()}",
                array_values($options),
            ),
        ];

        return implode("\n", $items);
    }

    private static function name(InputOption $option): string
    {
        $short = $option->getShortcut() === null ? '' : "-{$option->getShortcut()}, ";
        $value = $option->acceptValue() ? '=' . strtoupper($option->getName()) : '';

        return "$short--{$option->getName()}$value";
    }
}
