<?php

declare(strict_types=1);

namespace TrendVault\Writer;

use RuntimeException;

/** A failure that an operator can act on; the message is one sentence. Cli\ExitCode maps each class to an exit code. */
abstract class WriterException extends RuntimeException {}
