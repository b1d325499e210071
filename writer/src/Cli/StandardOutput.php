<?php

declare(strict_types=1);

namespace TrendVault\Writer\Cli;

use Override;
use Symfony\Component\Console\Output\ConsoleOutput;
use TrendVault\Writer\ExitCode;
use TrendVault\Writer\WriterException;

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
