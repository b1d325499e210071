<?php

declare(strict_types=1);

namespace TrendVault\Writer\Cli;

use RuntimeException;
use Throwable;

/** A failure that an operator can act on: one sentence, and the exit code that goes with it. */
abstract class Failure extends RuntimeException
{
    final public function __construct(
        string $message,
        public readonly ExitCode $exitCode,
        ?Throwable $previous = null,
    ) {
        parent::__construct($message, 0, $previous);
    }
}
