<?php

declare(strict_types=1);

namespace TrendVault\Writer\Ranking;

/** What a video's scores in a region came from, as far as the lists do not say it. Times are UTC seconds. */
final readonly class ExplainedVideo
{
    public function __construct(
        /** When its views were counted last; null when nobody counted them. */
        public ?int $countedAt,
        public int $observationCount,
        public float $ratedAt,
        public int $ageStartsAt,
        /** Null where looks do not take part. */
        public ?LookParts $looks,
    ) {}

    public static function of(Candidate $candidate, ?LookParts $looks): self
    {
        $velocity = $candidate->velocity;

        return new self(
            $velocity->observationCount === 0 ? null : $velocity->lastObservedAt,
            $velocity->observationCount,
            $velocity->ratedAt,
            Forecast::ageStartsAt($velocity->firstObservedAt, $candidate->publishedAt),
            $looks,
        );
    }

    /**
     * The form that is stored, and that the origin reads: counted_at, observation_count, rated_at, age_starts_at, and,
     * where looks take part, looks, views, expected_appeal, appeal, tried_appeal, is_held.
     *
     * @return list<int|float|bool|null>
     */
    public function values(): array
    {
        $values = [$this->countedAt, $this->observationCount, $this->ratedAt, $this->ageStartsAt];
        $looks = $this->looks;

        return $looks === null
            ? $values
            : [
                ...$values,
                $looks->looks,
                $looks->views,
                $looks->appeal->prior,
                $looks->appeal->mean,
                $looks->appeal->upper,
                $looks->appeal->isHeld,
            ];
    }

    /**
     * @param list<int|float|bool|null> $values see values()
     * @param ?float $weight of looks in the region
     */
    public static function fromValues(array $values, ?float $weight): self
    {
        [$countedAt, $observationCount, $ratedAt, $ageStartsAt] = $values;
        [$looks, $views, $prior, $mean, $upper, $isHeld] = array_slice($values, 4) + array_fill(0, 6, null);

        return new self(
            $countedAt,
            $observationCount,
            $ratedAt,
            $ageStartsAt,
            $looks === null || $weight === null
                ? null
                : new LookParts($looks, $views, $weight, new AppealEstimate($prior, $mean, $upper, $isHeld)),
        );
    }
}
