<?php

declare(strict_types=1);

namespace TrendVault\Writer\Simulation;

use TrendVault\Writer\WriterException;

/** A world that cannot be simulated. */
final class UnknownWorld extends WriterException
{
    /** @param array<string, mixed> $known */
    public static function field(string $name, array $known): self
    {
        $names = array_map(
            static fn(string $property): string => strtolower(
                (string) preg_replace('/[A-Z]/', '_$0', $property),
            ),
            array_keys($known),
        );

        return new self(
            "Cannot simulate: the world's $name is not known or not of its type; expected numbers for " .
                implode(', ', $names) .
                ' (says_depth: true or false).',
        );
    }

    public static function impossible(): self
    {
        return new self(
            'Cannot simulate: the world needs births, life, appeal, taper above 0, shares from 0 to below 1, ' .
                'days above warm_up_days, and last_rank from 1 to 500.',
        );
    }

    public static function file(string $path): self
    {
        return new self("Cannot simulate: $path is not a JSON object of the world's fields.");
    }
}
