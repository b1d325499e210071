<?php

declare(strict_types=1);

namespace TrendVault\Writer\Cli;

/** An option of a command. Without a value name it is a switch. */
final readonly class Option
{
    public function __construct(
        public string $name,
        public string $description,
        public ?string $valueName = null,
    ) {}

    public function label(): string
    {
        return "--$this->name" . ($this->valueName === null ? '' : " $this->valueName");
    }
}
