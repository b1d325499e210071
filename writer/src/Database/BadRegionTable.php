<?php

declare(strict_types=1);

namespace TrendVault\Writer\Database;

use TrendVault\Writer\WriterException;

/** The message has a line for each mistake. */
final class BadRegionTable extends WriterException
{
    private const int MOST_SAID = 20;

    /** @param non-empty-list<string> $faults */
    public static function because(array $faults): self
    {
        $more = count($faults) - self::MOST_SAID;
        $said = array_slice($faults, 0, self::MOST_SAID);

        return new self(implode("\n", $more > 0 ? [...$said, "and $more more"] : $said));
    }
}
