<?php

declare(strict_types=1);

namespace TrendVault\Writer\Tests\Support;

use TrendVault\Writer\ExitCode;

/** What a writer process left behind. */
final readonly class ProcessResult
{
    public function __construct(public ExitCode $exitCode, public string $output, public string $errors) {}

    /** @return list<array<string, mixed>> what was logged as this event */
    public function events(string $name): array
    {
        $lines = array_map(
            static fn(string $line): array => json_decode($line, true, flags: JSON_THROW_ON_ERROR),
            array_filter(explode("\n", $this->errors)),
        );

        return array_values(array_filter($lines, static fn(array $line): bool => $line['event'] === $name));
    }

    public function message(string $event = 'failed'): string
    {
        return implode("\n", array_column($this->events($event), 'message'));
    }
}
