<?php

declare(strict_types=1);

namespace TrendVault\Writer;

use RuntimeException;
use Symfony\Component\Console\Exception\ExceptionInterface;
use Throwable;

/** A failure that an operator can act on: the message is one sentence. */
class WriterException extends RuntimeException
{
    final public function __construct(
        string $sentence,
        public readonly ExitCode $exitCode,
        ?Throwable $previous = null,
    ) {
        parent::__construct($sentence, previous: $previous);
    }

    public static function usage(string $sentence): self
    {
        return new self($sentence, ExitCode::Usage);
    }

    public static function setting(string $name, string $value, string $expected): self
    {
        return self::usage("Cannot read $name=$value: expected $expected.");
    }

    /** What is no failure that an operator can act on is a bug. */
    public static function exitCodeOf(Throwable $error): ExitCode
    {
        return match (true) {
            $error instanceof self => $error->exitCode,
            $error instanceof ExceptionInterface => ExitCode::Usage,
            default => ExitCode::Internal,
        };
    }
}
