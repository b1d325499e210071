<?php

declare(strict_types=1);

namespace TrendVault\Writer\Ranking;

use Generator;

/** All lists of a generation while it is built, and how its videos are scored. */
final class RankedLists
{
    private readonly TopLists $lists;
    private int $futureCount = 0;
    /** What generations.formula says. */
    public string $formula = Forecast::VERSION;
    /** Whether looks weigh anything in any region. */
    public bool $usesLooks = false;
    /** @var array<string, true> */
    private array $regionsWithRemovals = [];
    /** @var array<true> by video */
    private array $removedVideos = [];
    /** @var array<string, AppealModel> by region */
    private array $models = [];
    /** @var array<string, array<string, array{int, Contender}>> the places in the model, by region, "#" and video */
    private array $contenders = [];
    /** @var array<string, Exploration> by region */
    private array $explorations = [];

    /**
     * @param int $now UTC seconds
     * @param ?list<Window> $windows null for all
     */
    public function __construct(private readonly int $now, ?array $windows = null)
    {
        $this->lists = new TopLists($windows ?? Window::cases());
    }

    /** Adds the video to each list that its score admits it to. */
    public function offer(
        string $region,
        string $videoId,
        string $channel,
        ?string $category,
        ?string $language,
        ?int $publishedAt,
        Velocity $velocity,
    ): void {
        foreach ($this->lists->targetsFor($region, $category, $language)->byWindow as [$window, $lists]) {
            $score = Forecast::expectedViews($velocity, $publishedAt, $window, $this->now);
            $candidate = null;
            foreach ($lists as $list) {
                if ($list->admits($score)) {
                    $list->add(
                        $candidate ??= new Candidate(
                            $videoId,
                            $channel,
                            $score,
                            $velocity,
                            publishedAt: $publishedAt,
                        ),
                    );
                }
            }
        }
    }

    /**
     * Adds all videos of a region where the list learns from looks.
     *
     * @param list<Contender> $contenders
     * @param float $exploreShare of the looks, see Exploration
     * @param float $surprise see AppealModel::SURPRISE
     */
    public function offerAll(
        string $region,
        array $contenders,
        float $exploreShare,
        float $surprise = AppealModel::SURPRISE,
    ): AppealModel {
        $model = new AppealModel($contenders, $this->now, $surprise);
        if (array_any($contenders, static fn(Contender $contender): bool => $contender->evidence !== [])) {
            $this->models[$region] = $model;
        }
        $this->explorations[$region] = new Exploration($exploreShare, $model->looksByRank());
        foreach ($contenders as $index => $contender) {
            $this->contenders[$region]["#$contender->videoId"] = [$index, $contender];
            $estimate = $model->estimate($index);
            $targets = $this->lists->targetsFor($region, $contender->category, $contender->language);
            foreach ($targets->byWindow as [$window, $targetLists]) {
                $earned = $model->score($index, $estimate->mean, $window);
                $score = $exploreShare > 0.0 ? $model->score($index, $estimate->upper, $window) : $earned;
                $candidate = new Candidate(
                    $contender->videoId,
                    $contender->channel,
                    $score,
                    $contender->velocity,
                    $earned,
                    publishedAt: $contender->publishedAt,
                );
                foreach ($targetLists as $list) {
                    $list->admits($score) && $list->add($candidate);
                }
            }
        }

        return $model;
    }

    /** @return Generator<RankedList> in the order of region, window and name */
    public function ranked(): Generator
    {
        foreach ($this->lists->published() as [$region, $window, $name, $list]) {
            yield new RankedList(
                $region,
                $window,
                $name,
                $list->ranked($this->explorations[$region] ?? null),
                $list->size,
            );
        }
    }

    /** How many videos of a region were offered. */
    public function videoCount(string $region): int
    {
        return $this->lists->videoCount($region);
    }

    public function totalVideoCount(): int
    {
        return $this->lists->totalVideoCount();
    }

    /** Counts a video that does not rank, because its newest observation is of the future. */
    public function skipFuture(): void
    {
        $this->futureCount++;
    }

    /** Notes that a video of the region does not rank, because somebody took it down. */
    public function skipRemoved(string $region, string $videoId): void
    {
        $this->regionsWithRemovals[$region] = true;
        $this->removedVideos[$videoId] = true;
    }

    /** How many videos do not rank, because somebody took them down. */
    public function removedCount(): int
    {
        return count($this->removedVideos);
    }

    /** How much looks weigh in a region; null where they take no part. */
    public function lookWeight(string $region): ?float
    {
        return ($this->models[$region] ?? null)?->weight();
    }

    /** What was done with a video in a region's lists; null where looks take no part. */
    public function lookParts(string $region, string $videoId): ?LookParts
    {
        $model = $this->models[$region] ?? null;
        [$index, $contender] = $this->contenders[$region]["#$videoId"] ?? [0, null];
        if ($model === null || $contender === null) {
            return null;
        }
        $looks = $contender->looks($this->now);

        return new LookParts($looks->looks, $looks->views, $model->weight(), $model->estimate($index));
    }

    /** Whether a region has no video, and not because all were taken down. */
    public function isEmptyByAccident(string $region): bool
    {
        return $this->videoCount($region) === 0 && !isset($this->regionsWithRemovals[$region]);
    }

    public function futureCount(): int
    {
        return $this->futureCount;
    }
}
