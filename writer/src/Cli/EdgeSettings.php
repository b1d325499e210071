<?php

declare(strict_types=1);

namespace TrendVault\Writer\Cli;

use TrendVault\Writer\Sources\Edge\KeyRing;
use TrendVault\Writer\Sources\SourceFailure;

/** What the environment says about pulling counts from the edge. */
final readonly class EdgeSettings
{
    private const float CEILING_FACTOR = 3;
    private const int MOST_CEILING_FACTOR = 1000;
    private const int TIMEOUT_SECONDS = 40;

    private function __construct(
        public KeyRing $keys,
        /** How many looks are counted at most for each list that the edge served. */
        public float $ceilingFactor,
        /** For all requests of a run together. */
        public int $timeoutSeconds,
    ) {}

    /** @throws SourceFailure|UsageError */
    public static function of(Settings $settings): self
    {
        return new self(
            KeyRing::read(
                $settings->sourceText('VIEWS_KEYS') ??
                    throw SourceFailure::because(
                        'Cannot read the edge: VIEWS_KEYS is not set. Expected id:key, as the edge has it.',
                    ),
            ),
            $settings->sourceNumber(
                'VIEWS_CEILING_FACTOR',
                self::CEILING_FACTOR,
                0,
                self::MOST_CEILING_FACTOR,
            ),
            $settings->sourceInteger('VIEWS_TIMEOUT_SECONDS', self::TIMEOUT_SECONDS, 1, 600),
        );
    }
}
