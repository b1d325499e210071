<?php

declare(strict_types=1);

namespace TrendVault\Writer\Cli;

/** Where a command reads its data and writes its result. What happened on the way goes to the log. */
final readonly class Streams
{
    /**
     * @param resource $input
     * @param resource $output
     */
    public function __construct(public mixed $input, private mixed $output) {}

    public static function ofProcess(): self
    {
        return new self(STDIN, STDOUT);
    }

    public function write(string $text): void
    {
        fwrite($this->output, $text);
    }
}
