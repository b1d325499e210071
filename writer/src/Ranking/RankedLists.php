<?php

declare(strict_types=1);

namespace TrendVault\Writer\Ranking;

use Closure;
use Generator;
use TrendVault\Writer\Editorial\Pin;
use TrendVault\Writer\Editorial\Ruling;

/**
 * All lists of a generation while it is built, and how its videos are scored. ranked() makes the lists of one region after
 * the other and forgets their videos, so that those of one region at a time are in memory: what is said of all regions
 * is known when it has ended.
 */
final class RankedLists
{
    /** As many as the lists of all windows can have, and some more. */
    private const int MOST_SEEN = 1800;
    /** Of a region, so many videos of which editors decided are noted. */
    private const int MOST_RULINGS = 5000;
    /** With fewer, what places are expected to bring is off by half on average. */
    private const float LEAST_CLICKS = 100.0;

    /** @var list<Window> */
    private readonly array $windows;
    /** @var array<string, TopLists> by region */
    private array $lists = [];
    /** @var array<string, Closure(): void> what offers a region's videos, by region */
    private array $later = [];
    /** @var array<string, int> by region */
    private array $videoCounts = [];
    private int $futureCount = 0;
    /** @var array<string, int> by region: videos for which there is no memory */
    private array $leftOut = [];
    /** @var array<string, true> */
    private array $regionsWithSkipped = [];
    /** @var array<string, array<string, array{float, Ruling}>> by region, "#" and id, with the views an hour */
    private array $rulings = [];
    /** @var array<true> by video */
    private array $removedVideos = [];
    /** @var array<string, float> how much impressions weigh, by region; not where they take no part */
    private array $weights = [];
    /** @var array<string, ?Audience> by region */
    private array $audiences = [];
    /** @var array<string, float> by region */
    private array $clicks = [];
    /** @var array<string, array<int, float>> of ranks, by region and rank group */
    private array $biases = [];
    /** @var array<string, array<array{Candidate, list<float>}>> by region, see seenVideos() */
    private array $seen = [];
    /** @var array<string, list<Pin>> by list */
    private array $pins = [];
    /** @var array<string, array<string, Candidate>> pinned videos that may rank, by region, "#" and id, and by window */
    private array $pinned = [];

    /**
     * @param int $now UTC seconds
     * @param ?list<Window> $windows null for all
     * @param list<Pin> $pins that are not over
     */
    public function __construct(
        private readonly int $now,
        ?array $windows = null,
        public readonly ChannelLimit $channelLimit = new ChannelLimit(),
        array $pins = [],
    ) {
        $this->windows = $windows ?? Window::cases();
        foreach ($pins as $pin) {
            $this->pins[$pin->listName()][] = $pin;
            $this->pinned["$pin->region#$pin->videoId"] = [];
        }
    }

    /** Adds the video to each list that its score admits it to. */
    public function offer(
        string $region,
        string $videoId,
        string $channel,
        ?string $category,
        string $kinds,
        ?int $publishedAt,
        Velocity $velocity,
        ?Ruling $ruling = null,
    ): void {
        foreach ($this->listsOf($region)->targetsFor($category, $kinds)->byWindow as [$window, $lists]) {
            $score =
                ($ruling->factor ?? 1.0) *
                Forecast::expectedViews($velocity, $publishedAt, $window, $this->now);
            $candidate = null;
            if (isset($this->pinned["$region#$videoId"])) {
                $candidate = new Candidate(
                    $videoId,
                    $channel,
                    $score,
                    $velocity,
                    publishedAt: $publishedAt,
                    ruling: $ruling,
                );
                $this->pinned["$region#$videoId"][$window->value] = $candidate;
            }
            foreach ($lists as $list) {
                if ($list->admits($score, $videoId, $channel)) {
                    $list->add(
                        $candidate ??= new Candidate(
                            $videoId,
                            $channel,
                            $score,
                            $velocity,
                            publishedAt: $publishedAt,
                            ruling: $ruling,
                        ),
                    );
                }
            }
        }
    }

    /**
     * Has the videos of a region offered when ranked() comes to it.
     *
     * @param Closure(): void $offer
     */
    public function offerLater(string $region, Closure $offer): void
    {
        $this->later[$region] = $offer;
    }

    /**
     * Adds all videos of a region where the list learns from impressions.
     *
     * @param list<Contender> $contenders those with impressions, or counted elsewhere
     * @param float $exploreShare of the impressions, see Trials
     * @param iterable<Contender> $unknown those with neither, by id; only those that get into a list are kept in memory
     * @param ?Audience $audience how each list is seen; without it none has expectedViews(), and each gets all impressions
     */
    public function offerAll(
        string $region,
        array $contenders,
        Traffic $traffic,
        float $exploreShare,
        iterable $unknown = [],
        ?Audience $audience = null,
    ): void {
        $model = new ClickModel($contenders, $this->now, $traffic);
        if (array_any($contenders, static fn(Contender $contender): bool => $contender->counts !== [])) {
            $this->weights[$region] = $model->weight();
            $this->biases[$region] = $model->bias();
            $this->clicks[$region] = $model->clicks();
        }
        $share = $exploreShare * $model->weight();
        $this->audiences[$region] = $audience;
        [$bias, $parts] = [$model->bias(), $audience?->parts($this->now)];
        // Static: PHP looks for no cycles (main.php), and one would keep each simulated ranking in memory.
        $trialsOf = static function (Window $window, string $name) use (
            $share,
            $traffic,
            $bias,
            $parts,
        ): ?Trials {
            $part = $parts === null ? null : $parts["$window->value $name"] ?? [];

            return $part === [] ? null : new Trials($share, $traffic, $bias, $part);
        };
        $lists = $this->lists[$region] = new TopLists(
            $this->windows,
            $this->channelLimit,
            $share > 0.0 ? $trialsOf : null,
        );
        $seen = $rates = [];
        foreach ($contenders as $index => $contender) {
            if ($contender->isRemoved) {
                continue;
            }
            $targets = $lists->targetsFor($contender->category, $contender->kinds);
            $rate = $model->rate($index);
            $this->keepPinned($region, $contender, $rate, $model);
            self::offerTo($targets, $contender, $rate, $model);
            if ($contender->counts !== []) {
                [$seen[$index], $rates[$index]] = [
                    self::score($model, $contender, $rate, Window::Day),
                    $rate,
                ];
            }
        }
        arsort($seen);
        foreach (array_slice($seen, 0, self::MOST_SEEN, true) as $index => $score) {
            $contender = $contenders[$index];
            $this->seen[$region][$contender->videoId] = [
                self::candidate($contender, $score, $rates[$index]),
                array_map(
                    static fn(Window $window): float => round(
                        self::score($model, $contender, $rates[$index], $window),
                        1,
                    ),
                    $this->windows,
                ),
            ];
        }
        foreach ($unknown as $contender) {
            $targets = $lists->targetsFor($contender->category, $contender->kinds);
            if (isset($this->pinned["$region#$contender->videoId"])) {
                $this->keepPinned($region, $contender, $model->rateOfUnknown($contender), $model);
            }
            // The older of two that nobody knows is expected to get fewer clicks in each window, below the largest rate.
            $since = $contender->ageStartsAt();
            if (
                $since <= $targets->unknownUntil[''] ||
                $since <= ($targets->unknownUntil["#$contender->channel"] ?? PHP_INT_MIN)
            ) {
                continue;
            }
            $rate = $model->rateOfUnknown($contender);
            $closed = self::offerTo($targets, $contender, $rate, $model);
            if ($closed !== null && $contender->ruling === null && $rate->prior < ClickModel::LARGEST_RATE) {
                $targets->unknownUntil[$closed] = $since;
            }
        }
    }

    /** @return ?string null when a list has room for it; else for which channel none has, as in ListTargets::$unknownUntil */
    private static function offerTo(
        ListTargets $targets,
        Contender $contender,
        ClickRate $rate,
        ClickModel $model,
    ): ?string {
        // What is to count less is not put higher to learn of it, nor is that of which nothing can be learned.
        $isTried = $contender->ruling === null && !ListKinds::areForKids($contender->kinds);
        $isAdmitted = false;
        $isClosed = true;
        $upper = null;
        foreach ($targets->byWindow as [$window, $lists]) {
            $score = self::score($model, $contender, $rate, $window);
            $candidate = null;
            foreach ($lists as $list) {
                if ($list->admits($score, $contender->videoId, $contender->channel)) {
                    $list->add($candidate ??= self::candidate($contender, $score, $rate));
                    $isAdmitted = true;
                } elseif ($isClosed) {
                    $isClosed = $list->isClosed($score, $contender->videoId);
                }
                if ($isTried && $list->trials !== null) {
                    $candidate ??= self::candidate($contender, $score, $rate);
                    $isAdmitted = $list->addTrial($candidate, $upper ??= $rate->upper()) || $isAdmitted;
                }
            }
        }

        return match (true) {
            $isAdmitted => null,
            $isClosed => '',
            default => "#$contender->channel",
        };
    }

    /** Also where no list admits it: an editor wants it there. */
    private function keepPinned(
        string $region,
        Contender $contender,
        ClickRate $rate,
        ClickModel $model,
    ): void {
        $key = "$region#$contender->videoId";
        foreach (isset($this->pinned[$key]) ? $this->windows : [] as $window) {
            $score = self::score($model, $contender, $rate, $window);
            $this->pinned[$key][$window->value] = self::candidate($contender, $score, $rate);
        }
    }

    /** In the lists: a rule changes nothing that the model learns. */
    private static function score(
        ClickModel $model,
        Contender $contender,
        ClickRate $rate,
        Window $window,
    ): float {
        return ($contender->ruling->factor ?? 1.0) * $model->score($contender, $rate, $window);
    }

    private static function candidate(Contender $contender, float $score, ClickRate $rate): Candidate
    {
        return new Candidate(
            $contender->videoId,
            $contender->channel,
            $score,
            $contender->velocity,
            publishedAt: $contender->publishedAt,
            rate: $rate,
            counts: $contender->counts,
            ruling: $contender->ruling,
            firstSeenAt: $contender->firstSeenAt,
        );
    }

    private function listsOf(string $region): TopLists
    {
        return $this->lists[$region] ??= new TopLists($this->windows, $this->channelLimit);
    }

    /**
     * The clicks that each place of a list is expected to bring in its window, with the video that stands there: impressions
     * ahead · bias of the rank · mean click-through rate. Null where that is not known: before LEAST_CLICKS, or before each
     * hour of the day that lies ahead was counted.
     *
     * @return ?list<float> by rank, from the first
     */
    public function expectedViews(RankedList $list): ?array
    {
        $expected = ($this->audiences[$list->region] ?? null)?->expectedImpressions(
            $list->window,
            $list->category,
            count($list->candidates),
            $this->now,
        );
        $bias = $this->biases[$list->region] ?? null;
        if ($expected === null || $bias === null || $this->clicks[$list->region] < self::LEAST_CLICKS) {
            return null;
        }
        $views = [];
        foreach ($list->candidates as $index => $candidate) {
            $group = RankGroup::of($index + 1);
            $views[] = $expected[$group] * min(1.0, $bias[$group] * ($candidate->rate->mean ?? 0.0));
        }

        return $views;
    }

    /** @return Generator<RankedList> in the order of region, window and name */
    public function ranked(): Generator
    {
        $regions = array_keys($this->lists + $this->later);
        sort($regions, SORT_STRING);
        foreach ($regions as $region) {
            if (isset($this->later[$region])) {
                $this->later[$region]();
            }
            $lists = $this->listsOf($region);
            foreach ($lists->published() as [$window, $name, $list, $size]) {
                yield new RankedList(
                    $region,
                    $window,
                    $name,
                    $list->ranked($window),
                    $size,
                    $this->placements($region, $window, $name),
                );
            }
            $this->videoCounts[$region] = $lists->videoCount();
            unset($this->lists[$region], $this->later[$region], $this->audiences[$region]);
        }
    }

    /**
     * Clicks per impression that the model expects of a video at a rank; null where impressions take no part.
     *
     * @param int $rank from 1
     */
    public function clicksPerImpression(string $region, int $rank, ?Candidate $candidate): ?float
    {
        $bias = $this->biases[$region] ?? null;
        $rate = $candidate?->rate;

        return $bias === null || $rate === null ? null : min(1.0, $bias[RankGroup::of($rank)] * $rate->mean);
    }

    /** @return list<array{Pin, Candidate}> what editors want in a list, of the videos that may rank, the first rank first */
    private function placements(string $region, Window $window, string $name): array
    {
        $placements = [];
        foreach ($this->pins["$region $window->value $name"] ?? [] as $pin) {
            $candidate = $this->pinned["$region#$pin->videoId"][$window->value] ?? null;
            if ($candidate !== null) {
                $placements[$pin->rank] = [$pin, $candidate];
            }
        }
        ksort($placements);

        return array_values($placements);
    }

    /** How many videos of a region were offered. */
    public function videoCount(string $region): int
    {
        return $this->videoCounts[$region] ?? 0;
    }

    public function totalVideoCount(): int
    {
        return array_sum($this->videoCounts);
    }

    /** Counts a video that does not rank, because its newest observation is of the future. */
    public function skipFuture(): void
    {
        $this->futureCount++;
    }

    /** Counts a video of a region that does not rank, because there are too many. */
    public function leaveOut(string $region): void
    {
        $this->leftOut[$region] = ($this->leftOut[$region] ?? 0) + 1;
    }

    /** Notes that a video of the region does not rank, because somebody took it down. */
    public function skipRemoved(string $region, string $videoId): void
    {
        $this->skipRestricted($region);
        $this->removedVideos[$videoId] = true;
    }

    /** Notes that a video of the region does not rank, because it may not be shown there now. */
    public function skipRestricted(string $region): void
    {
        $this->regionsWithSkipped[$region] = true;
    }

    /** Notes why a video of the region is in no list, or lower, for those who ask. */
    public function noteRuling(string $region, string $videoId, float $viewsPerHour, Ruling $ruling): void
    {
        $this->rulings[$region]["#$videoId"] = [$viewsPerHour, $ruling];
        if (count($this->rulings[$region]) > 2 * self::MOST_RULINGS) {
            $this->rulings[$region] = self::largest($this->rulings[$region]);
        }
        if ($ruling->factor === 0.0) {
            $this->skipRestricted($region);
        }
    }

    /** @return array<string, Ruling> of videos with the most views an hour, by "#" and id */
    public function rulings(string $region): array
    {
        return array_map(
            static fn(array $noted): Ruling => $noted[1],
            self::largest($this->rulings[$region] ?? []),
        );
    }

    /** @return list<string> regions of which something is noted */
    public function ruledRegions(): array
    {
        return array_keys($this->rulings);
    }

    /**
     * @param array<string, array{float, Ruling}> $rulings
     * @return array<string, array{float, Ruling}>
     */
    private static function largest(array $rulings): array
    {
        if (count($rulings) > self::MOST_RULINGS) {
            uasort($rulings, static fn(array $one, array $other): int => $other[0] <=> $one[0]);
        }

        return array_slice($rulings, 0, self::MOST_RULINGS, true);
    }

    /** How many videos do not rank, because somebody took them down. */
    public function removedCount(): int
    {
        return count($this->removedVideos);
    }

    /** How much impressions weigh in a region; null where they take no part. */
    public function impressionWeight(string $region): ?float
    {
        return $this->weights[$region] ?? null;
    }

    /** Whether impressions weigh anything in any region. */
    public function usesImpressions(): bool
    {
        return array_any($this->weights, static fn(float $weight): bool => $weight > 0.0);
    }

    /** What generations.formula says. */
    public function formula(): string
    {
        return Forecast::VERSION . ($this->usesImpressions() ? '+' . ClickModel::VERSION : '');
    }

    /** What was done with a video in a region's lists; null where impressions take no part. */
    public function visitorParts(string $region, Candidate $candidate): ?VisitorParts
    {
        $weight = $this->impressionWeight($region);

        return $weight === null || $candidate->rate === null
            ? null
            : VisitorParts::of($candidate->counts, $weight, $candidate->rate, $this->now);
    }

    /**
     * Those of a region that were seen, by id, the largest score of a day first, with the score in each window.
     *
     * @return array<array{Candidate, list<float>}>
     */
    public function seenVideos(string $region): array
    {
        return $this->seen[$region] ?? [];
    }

    /** Whether a region has no video, and not because all were taken down or may not be shown. */
    public function isEmptyByAccident(string $region): bool
    {
        return $this->videoCount($region) === 0 && !isset($this->regionsWithSkipped[$region]);
    }

    public function futureCount(): int
    {
        return $this->futureCount;
    }

    /** @return array<string, int> how many videos do not rank, because there are too many, by region */
    public function leftOut(): array
    {
        return $this->leftOut;
    }
}

/**
 * A list as it is published: by score, under the limit by channel, and then with what editors placed, which takes its ranks
 * from all others.
 */
final readonly class RankedList
{
    /** @var list<Candidate> by rank, from 1 without gaps */
    public array $candidates;
    /** @var list<Candidate> the same without what editors placed */
    public array $model;
    /** @var array<int, array{Pin, ?int}> by index: what an editor placed there, and its rank in the model's order, from 1 */
    public array $placed;
    /** @var list<?int> by rank: the places in the order without a limit by channel, from 0; null where that is none */
    private array $places;
    /** @var list<?int> by rank: the index in the model's order */
    private array $modelIndexes;

    /**
     * @param string $category '' for all categories together
     * @param array<int, Candidate> $ranked by rank; the keys are the places that they have without a limit by channel
     * @param int $size the most ranks that the list may have
     * @param list<array{Pin, Candidate}> $placements the first rank first
     */
    public function __construct(
        public string $region,
        public Window $window,
        public string $category,
        array $ranked,
        private int $size,
        array $placements = [],
    ) {
        $this->model = array_values($ranked);
        [$candidates, $places, $placed] = [$this->model, array_keys($ranked), []];
        $indexes = array_keys($this->model);
        foreach ($placements as [$pin, $candidate]) {
            $at = array_search($pin->videoId, array_column($candidates, 'videoId'), true);
            if ($at !== false) {
                array_splice($candidates, $at, 1);
                array_splice($places, $at, 1);
                array_splice($indexes, $at, 1);
            }
        }
        foreach ($placements as [$pin, $candidate]) {
            $model = array_search($pin->videoId, array_column($this->model, 'videoId'), true);
            $index = min($pin->rank - 1, count($candidates));
            array_splice($candidates, $index, 0, [$candidate]);
            array_splice($places, $index, 0, [$model === false ? null : array_keys($ranked)[$model]]);
            array_splice($indexes, $index, 0, [$model === false ? null : $model]);
            $placed[$index] = [$pin, $model === false ? null : $model + 1];
        }
        $this->placed = $placed;
        $this->candidates = array_slice($candidates, 0, $this->size);
        $this->places = array_slice($places, 0, $this->size);
        $this->modelIndexes = array_slice($indexes, 0, $this->size);
    }

    /** @return array<int, ?int> by rank, where it differs: the rank without the limit by channel, null beyond the list's end */
    public function limitedRanks(): array
    {
        $ranks = [];
        foreach ($this->places as $index => $place) {
            if ($place !== $this->modelIndexes[$index] || isset($this->placed[$index])) {
                $ranks[$index + 1] = $place !== null && $place < $this->size ? $place + 1 : null;
            }
        }

        return $ranks;
    }
}

/** What visitors of a region's lists did with a video, and what the ranking made of it. */
final readonly class VisitorParts
{
    public function __construct(
        /** At the video, older ones counted less, and those before a burst not. */
        public float $impressions,
        /** On the video, in the lists. */
        public float $clicks,
        /** How much impressions weigh against the forecast in this region, from 0 to 1. */
        public float $weight,
        /** See ClickRate. */
        public float $prior,
        public float $mean,
        public float $upper,
        public bool $isHeld,
    ) {}

    /**
     * @param list<ClickCounts> $counts
     * @param int $now UTC seconds
     */
    public static function of(array $counts, float $weight, ClickRate $rate, int $now): self
    {
        [$impressions, $clicks] = ClickCounts::sums($counts, $now, $rate->forgotten);

        return new self(
            $impressions,
            $clicks,
            $weight,
            $rate->prior,
            $rate->mean,
            min(1.0, $rate->mean + $rate->deviation),
            $rate->isHeld,
        );
    }
}
