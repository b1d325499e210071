<?php

declare(strict_types=1);

namespace TrendVault\Writer\Ranking;

/** A video of a region where a list learns from looks, with all that is known of it. */
final readonly class Contender
{
    /** @param array<int, Evidence> $evidence by rank group */
    public function __construct(
        public string $videoId,
        public string $channel,
        public ?string $category,
        public ?int $publishedAt,
        /** Without an observation when only the catalogue names it. */
        public Velocity $velocity,
        public array $evidence,
        /** BCP 47. */
        public ?string $language = null,
    ) {}

    public function isCounted(): bool
    {
        return $this->velocity->observationCount > 0;
    }

    /**
     * All looks at it, of all ranks.
     *
     * @param int $at UTC seconds
     */
    public function looks(int $at): Evidence
    {
        return array_reduce(
            $this->evidence,
            static fn(Evidence $sum, Evidence $one): Evidence => $sum->plus($one),
            new Evidence(0.0, 0.0, 0.0, $at),
        );
    }

    /** @param int $at UTC seconds */
    public function ageHours(float $at): float
    {
        $since = Forecast::ageStartsAt($this->velocity->firstObservedAt, $this->publishedAt);

        return max(0.0, ($at - $since) / 3600);
    }
}
