<?php

declare(strict_types=1);

namespace TrendVault\Writer\Cli;

/** How a command is called, and its help. */
final readonly class Description
{
    /** @var list<Option> */
    public array $options;

    /** @param list<Option> $options the command's own */
    public function __construct(
        public string $name,
        public string $summary,
        array $options = [],
        private string $operands = '',
        private string $details = '',
    ) {
        $this->options = [
            ...$options,
            new Option(
                'db',
                'the database file; else DB_PATH, else data/trendvault.db of the project',
                'PATH',
            ),
            new Option('help', 'this text'),
        ];
    }

    public function help(): string
    {
        $usage = trim("writer $this->name $this->operands");
        $lines = array_map(
            static fn(Option $option): string => sprintf(
                "  %-22s %s\n",
                $option->label(),
                $option->description,
            ),
            $this->options,
        );

        return ucfirst($this->summary) .
            ".\n\nUsage: $usage [options]\n\n" .
            ($this->details === '' ? '' : "$this->details\n\n") .
            "Options:\n" .
            implode('', $lines);
    }
}
