<?php

declare(strict_types=1);

namespace TrendVault\Writer\Sources;

use TrendVault\Writer\WriterException;

final class RejectStoreFailure extends WriterException
{
    /** @param bool $losesLines whether the lines were to be kept there, not only a report of them */
    public static function at(string $path, bool $losesLines): self
    {
        $consequence = $losesLines
            ? 'All other lines are stored; rejected lines of a pipe are lost.'
            : 'All other lines are stored; the next run reads the file again.';

        return new self(
            "Cannot write to $path what was rejected: the disk is full, or permission was denied. $consequence",
        );
    }
}
