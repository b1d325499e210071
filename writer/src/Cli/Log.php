<?php

declare(strict_types=1);

namespace TrendVault\Writer\Cli;

use Override;
use Psr\Clock\ClockInterface;
use Psr\Log\AbstractLogger;
use Psr\Log\LogLevel;
use Stringable;
use Symfony\Component\Console\Formatter\OutputFormatter;
use Symfony\Component\Console\Output\OutputInterface;
use Throwable;

/**
 * What happened: short lines for a person at a terminal, else one JSON object per event. A message is a whole
 * sentence; the context has the event's name (`event`) and facts for machines, units in the names.
 */
final class Log extends AbstractLogger
{
    private const int JSON_FLAGS =
        JSON_UNESCAPED_SLASHES | JSON_UNESCAPED_UNICODE | JSON_INVALID_UTF8_SUBSTITUTE | JSON_THROW_ON_ERROR;

    /** @param OutputInterface $output standard error; when it is quiet, only errors are written */
    public function __construct(
        private readonly OutputInterface $output,
        private readonly ClockInterface $clock,
        private readonly bool $forPeople,
    ) {}

    /** @param mixed[] $context */
    #[Override]
    public function log($level, string|Stringable $message, array $context = []): void
    {
        [$word, $verbosity] = match ($level) {
            LogLevel::DEBUG => ['info', OutputInterface::VERBOSITY_DEBUG],
            LogLevel::INFO, LogLevel::NOTICE => ['info', OutputInterface::VERBOSITY_NORMAL],
            LogLevel::WARNING => ['warning', OutputInterface::VERBOSITY_NORMAL],
            default => ['error', OutputInterface::VERBOSITY_QUIET],
        };
        $line = $this->forPeople
            ? $this->sentence($word, (string) $message, $context)
            : $this->json($word, (string) $message, $context);
        $form = $this->forPeople ? OutputInterface::OUTPUT_NORMAL : OutputInterface::OUTPUT_RAW;
        try {
            $this->output->writeln($line, $verbosity | $form);
        } catch (Throwable) {
            // A full disk or a closed pipe behind standard error does not end the run.
        }
    }

    /** @param mixed[] $context */
    private function sentence(string $level, string $message, array $context): string
    {
        $facts = $this->output->isVerbose() ? ' ' . (string) json_encode($context, self::JSON_FLAGS) : '';
        $prefix = match ($level) {
            'warning' => '<comment>warning:</comment> ',
            'error' => '<fg=red>error:</> ',
            default => '',
        };

        // A file's name may have bytes that a terminal would take as commands, turn the line around, or begin one like ours.
        $visible = (string) preg_replace(
            '/[\x00-\x09\x0b-\x1f\x7f]|\xc2[\x80-\x9f]|\xe2\x80[\xa8-\xae]|\xe2\x81[\xa6-\xa9]/',
            '?',
            $message . $facts,
        );

        return $prefix . OutputFormatter::escape(str_replace("\n", "\n  ", rtrim($visible, "\n")));
    }

    /** @param mixed[] $context */
    private function json(string $level, string $message, array $context): string
    {
        $line = [
            'time' => $this->clock->now()->format('Y-m-d\TH:i:s.v\Z'),
            'level' => $level,
            'event' => 'log',
            'message' => $message,
        ];

        return (string) json_encode([...$line, ...$context], self::JSON_FLAGS);
    }
}
