<?php

declare(strict_types=1);

namespace TrendVault\Writer\Sources;

use TrendVault\Writer\WriterException;

final class Stopped extends WriterException
{
    public static function bySignal(): self
    {
        return new self(
            'Stopped by a signal while a file was read: what was stored stays, and the next run reads the file again.',
        );
    }
}
