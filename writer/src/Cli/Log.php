<?php

declare(strict_types=1);

namespace TrendVault\Writer\Cli;

/** What happened, on standard error: short lines for a person at a terminal, else one JSON object per event. */
final readonly class Log
{
    /** @param resource $stream */
    public function __construct(private mixed $stream, private bool $forPeople) {}

    public static function toStandardError(): self
    {
        return new self(STDERR, stream_isatty(STDERR));
    }

    /** @param array<string, mixed> $facts what a machine may want of it, units in the names */
    public function info(string $event, string $sentence, array $facts = []): void
    {
        $this->write('info', $event, $sentence, $facts);
    }

    /** @param array<string, mixed> $facts */
    public function warn(string $event, string $sentence, array $facts = []): void
    {
        $this->write('warn', $event, $sentence, $facts);
    }

    /** @param array<string, mixed> $facts */
    public function error(string $event, string $sentence, array $facts = []): void
    {
        $this->write('error', $event, $sentence, $facts);
    }

    /** @param array<string, mixed> $facts */
    private function write(string $level, string $event, string $sentence, array $facts): void
    {
        if ($this->forPeople) {
            fwrite($this->stream, ($level === 'info' ? '' : "$level: ") . "$sentence\n");

            return;
        }
        $line = [
            'at' => gmdate('Y-m-d\TH:i:s\Z'),
            'level' => $level,
            'event' => $event,
            'message' => $sentence,
            ...$facts,
        ];
        fwrite(
            $this->stream,
            json_encode(
                $line,
                JSON_UNESCAPED_SLASHES |
                    JSON_UNESCAPED_UNICODE |
                    JSON_INVALID_UTF8_SUBSTITUTE |
                    JSON_THROW_ON_ERROR,
            ) . "\n",
        );
    }
}
