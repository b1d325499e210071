<?php

declare(strict_types=1);

namespace TrendVault\Writer\Sources;

use TrendVault\Writer\WriterException;

final class RejectStoreFailure extends WriterException
{
    public static function at(string $path): self
    {
        return new self(
            "Cannot write rejected lines to $path: the disk is full, or permission was denied. The current batch was not stored; the source is unchanged.",
        );
    }
}
