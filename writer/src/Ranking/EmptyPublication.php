<?php

declare(strict_types=1);

namespace TrendVault\Writer\Ranking;

use TrendVault\Writer\WriterException;

/** A generation would have no list for regions that have one now. */
final class EmptyPublication extends WriterException
{
    /** @param non-empty-list<string> $regions */
    public static function of(array $regions): self
    {
        return new self(
            'Nothing was published: the lists of ' .
                implode(', ', $regions) .
                ' would be empty, and are not now. The last generation is still served. After a wrong clock run' .
                ' `writer repair`; if they are to be empty, `writer rank --allow-empty`.',
        );
    }
}
