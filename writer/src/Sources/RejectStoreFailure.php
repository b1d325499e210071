<?php

declare(strict_types=1);

namespace TrendVault\Writer\Sources;

use TrendVault\Writer\WriterException;

final class RejectStoreFailure extends WriterException
{
    public static function at(string $path): self
    {
        return new self(
            "Cannot keep rejected lines in $path: the disk is full or this user may not write there. The batch that needed it was not stored; the source stays as it is.",
        );
    }
}
