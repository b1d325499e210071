<?php

declare(strict_types=1);

namespace TrendVault\Writer\Ingest;

use TrendVault\Writer\Cli\ExitCode;
use TrendVault\Writer\Cli\Failure;

final class SetAsideFailure extends Failure
{
    public static function at(string $path): self
    {
        return new self(
            "Cannot set lines aside in $path: the disk is full or this user may not write there. The batch that needed it was not stored; the source stays as it is.",
            ExitCode::SourceFailed,
        );
    }
}
