<?php

declare(strict_types=1);

namespace TrendVault\Writer\Ranking;

use TrendVault\Writer\Database\Database;
use TrendVault\Writer\Editorial\Ruling;

/**
 * Stores with a generation what its ranks came from, as far as the lists do not say it: for the videos of the lists over
 * all categories, and for those that visitors saw and a list lacks. `writer explain` and the origin read it, so that nothing else has to know the formula. The caller holds
 * the transaction.
 */
final class ExplanationStore
{
    private const string ADD = 'INSERT INTO explanations (generation, region, parts, limited, rules) VALUES (?, ?, ?, ?, ?)';
    private const string FORGET = 'DELETE FROM explanations WHERE generation < (SELECT max(id) FROM generations WHERE id < ?)';

    /** Of a region's videos that were seen, and that a list lacks, so many are explained with their scores. */
    private const int MOST_ABSENT = 200;

    /** @var array<string, array<list<int|float|bool|null>>> by region and video, see ExplainedVideo */
    private array $parts = [];
    /** @var array<string, array<int>> how many of them list a video, by region and video */
    private array $places = [];
    /** @var array<string, int> how many there are, by region */
    private array $windows = [];
    /** @var array<string, array<string, Ruling>> by region, "#" and id */
    private array $rulings = [];
    /** @var array<string, array<string, array<int, ?int>>> by region, window and rank */
    private array $limited = [];

    public function __construct(
        private readonly Database $database,
        private readonly int $generation,
        private readonly RankedLists $lists,
    ) {}

    public function add(RankedList $list): void
    {
        if ($list->category !== '') {
            return;
        }
        $region = $list->region;
        $this->windows[$region] = ($this->windows[$region] ?? 0) + 1;
        foreach ($list->candidates as $candidate) {
            $this->places[$region][$candidate->videoId] =
                ($this->places[$region][$candidate->videoId] ?? 0) + 1;
            $this->parts[$region][$candidate->videoId] ??= $this->valuesOf($region, $candidate);
            if ($candidate->ruling !== null) {
                $this->rulings[$region]["#$candidate->videoId"] = $candidate->ruling;
            }
        }
        $this->limited[$region][$list->window->value] = $list->limitedRanks();
    }

    /** Writes what was added, and deletes what is of older generations than the one before. */
    public function save(): void
    {
        $this->database->run(self::FORGET, [$this->generation]);
        foreach ($this->parts + array_fill_keys($this->lists->ruledRegions(), []) as $region => $parts) {
            $listed = array_filter(
                $this->places[$region] ?? [],
                fn(int $places): bool => $places === $this->windows[$region],
            );
            $absent = array_diff_key($this->lists->seenVideos($region), $listed);
            foreach (array_slice($absent, 0, self::MOST_ABSENT, true) as $id => [$candidate, $scores]) {
                $parts[$id] = [...$this->valuesOf($region, $candidate), ...$scores];
            }
            $limited = array_map(
                static fn(array $ranks): object => (object) $ranks,
                $this->limited[$region] ?? [],
            );
            $rulings = $this->lists->rulings($region) + ($this->rulings[$region] ?? []);
            $rules = [];
            foreach ($rulings as $key => $ruling) {
                $rules[substr($key, 1)] = $ruling->facts();
            }
            $this->database->run(self::ADD, [
                $this->generation,
                $region,
                json_encode((object) $parts, JSON_THROW_ON_ERROR),
                json_encode((object) $limited, JSON_THROW_ON_ERROR),
                $rules === []
                    ? null
                    : json_encode((object) $rules, JSON_THROW_ON_ERROR | JSON_UNESCAPED_UNICODE),
            ]);
        }
    }

    /** @return list<int|float|bool|null> */
    private function valuesOf(string $region, Candidate $candidate): array
    {
        return ExplainedVideo::of($candidate, $this->lists->visitorParts($region, $candidate))->values();
    }
}

/** What a video's scores in a region came from, as far as the lists do not say it. Times are UTC seconds. */
final readonly class ExplainedVideo
{
    public function __construct(
        /** When its views were counted last; null when nobody counted them. */
        public ?int $countedAt,
        public int $observationCount,
        public float $ratedAt,
        public int $ageStartsAt,
        /** Null where impressions do not take part. */
        public ?VisitorParts $visitors,
    ) {}

    public static function of(Candidate $candidate, ?VisitorParts $visitors): self
    {
        $velocity = $candidate->velocity;

        return new self(
            $velocity->observationCount === 0 ? null : $velocity->lastObservedAt,
            $velocity->observationCount,
            $velocity->ratedAt,
            self::ageStartsAt(
                $velocity,
                $candidate->publishedAt,
                $candidate->firstSeenAt,
                $visitors?->weight,
            ),
            $visitors,
        );
    }

    /**
     * The time that its age counts from, UTC seconds: as the forecast takes it where that takes part, else as clicks do.
     *
     * @param ?float $weight of impressions in the region
     */
    public static function ageStartsAt(
        Velocity $velocity,
        ?int $publishedAt,
        ?int $firstSeenAt,
        ?float $weight,
    ): int {
        return $velocity->observationCount === 0 || $weight === 1.0
            ? ClickCounts::ageStartsAt($velocity->firstObservedAt, $publishedAt, $firstSeenAt)
            : Velocity::ageStartsAt($velocity->firstObservedAt, $publishedAt);
    }

    /**
     * The form that is stored, and that the origin reads: counted_at, observation_count, rated_at, age_starts_at, and,
     * where impressions take part, impressions, clicks, prior, mean, upper bound of the click-through rate, is_held; of a
     * video that a list lacks, its score in each window follows.
     *
     * @return list<int|float|bool|null>
     */
    public function values(): array
    {
        $values = [$this->countedAt, $this->observationCount, $this->ratedAt, $this->ageStartsAt];
        $visitors = $this->visitors;

        return $visitors === null
            ? $values
            : [
                ...$values,
                $visitors->impressions,
                $visitors->clicks,
                $visitors->prior,
                $visitors->mean,
                $visitors->upper,
                $visitors->isHeld,
            ];
    }

    /**
     * @param list<int|float|bool|null> $values see values()
     * @param ?float $weight of impressions in the region
     */
    public static function fromValues(array $values, ?float $weight): self
    {
        /** @var array{}|array{float, float, float, float, float, bool} $visitors */
        $visitors = array_slice($values, 4);
        /** @var array{?int, int, float, int} $values */
        [$countedAt, $observationCount, $ratedAt, $ageStartsAt] = $values;
        if ($visitors === [] || $weight === null) {
            return new self($countedAt, $observationCount, $ratedAt, $ageStartsAt, null);
        }
        [$impressions, $clicks, $prior, $mean, $upper, $isHeld] = $visitors;
        $parts = new VisitorParts($impressions, $clicks, $weight, $prior, $mean, $upper, $isHeld);

        return new self($countedAt, $observationCount, $ratedAt, $ageStartsAt, $parts);
    }
}
