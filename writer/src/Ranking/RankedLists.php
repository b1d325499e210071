<?php

declare(strict_types=1);

namespace TrendVault\Writer\Ranking;

use Generator;
use TrendVault\Writer\Database\Database;
use TrendVault\Writer\Database\RegionShare;

/** All lists of a generation while it is built, and how its videos are scored. */
final class RankedLists
{
    private readonly TopLists $lists;
    private int $futureCount = 0;
    /** What generations.formula says. */
    public string $formula = Forecast::VERSION;
    /** Whether impressions weigh anything in any region. */
    public bool $usesImpressions = false;
    /** @var array<string, true> */
    private array $regionsWithRemovals = [];
    /** @var array<true> by video */
    private array $removedVideos = [];
    /** @var array<string, ClickModel> by region */
    private array $models = [];
    /** @var array<string, array<string, array{int, Contender}>> the places in the model, by region, "#" and video */
    private array $contenders = [];
    /** @var array<string, Trials> by region */
    private array $trials = [];

    /**
     * @param int $now UTC seconds
     * @param ?list<Window> $windows null for all
     */
    public function __construct(
        private readonly int $now,
        ?array $windows = null,
        public readonly ChannelLimit $channelLimit = new ChannelLimit(),
    ) {
        $this->lists = new TopLists($windows ?? Window::cases(), $channelLimit);
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
     * Adds all videos of a region where the list learns from impressions.
     *
     * @param list<Contender> $contenders
     * @param float $exploreShare of the impressions, see Trials
     * @param float $surprise see ClickModel::SURPRISE
     */
    public function offerAll(
        string $region,
        array $contenders,
        Traffic $traffic,
        float $exploreShare,
        float $surprise = ClickModel::SURPRISE,
    ): ClickModel {
        $model = new ClickModel($contenders, $this->now, $traffic, $surprise);
        if (array_any($contenders, static fn(Contender $contender): bool => $contender->counts !== [])) {
            $this->models[$region] = $model;
        }
        $share = $exploreShare * $model->weight();
        if ($share > 0.0) {
            $this->trials[$region] = new Trials($share, $traffic, $model->bias());
        }
        foreach ($contenders as $index => $contender) {
            $this->contenders[$region]["#$contender->videoId"] = [$index, $contender];
            $rate = $model->rate($index);
            $targets = $this->lists->targetsFor($region, $contender->category, $contender->language);
            foreach ($targets->byWindow as [$window, $targetLists]) {
                $candidate = new Candidate(
                    $contender->videoId,
                    $contender->channel,
                    $model->score($index, $rate, $window),
                    $contender->velocity,
                    publishedAt: $contender->publishedAt,
                    rate: $rate,
                );
                foreach ($targetLists as $list) {
                    $list->admits($candidate->score) && $list->add($candidate);
                    $share > 0.0 && $list->addTrial($candidate);
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
                $list->ranked($window, $this->trials[$region] ?? null),
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

    /** How much impressions weigh in a region; null where they take no part. */
    public function impressionWeight(string $region): ?float
    {
        return ($this->models[$region] ?? null)?->weight();
    }

    /** What was done with a video in a region's lists; null where impressions take no part. */
    public function visitorParts(string $region, string $videoId): ?VisitorParts
    {
        $model = $this->models[$region] ?? null;
        [$index, $contender] = $this->contenders[$region]["#$videoId"] ?? [0, null];
        if ($model === null || $contender === null) {
            return null;
        }

        return VisitorParts::of($contender, $model, $model->rate($index), $this->now);
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

/** A list as it is published. */
final readonly class RankedList
{
    /** @var list<Candidate> by rank, from 1 without gaps */
    public array $candidates;
    /** @var list<int> by rank: the places in the order without a limit by channel, from 0 */
    private array $places;

    /**
     * @param string $category '' for all categories together
     * @param array<int, Candidate> $ranked by rank; the keys are the places that they have without a limit by channel
     * @param int $size the most ranks that the list may have
     */
    public function __construct(
        public string $region,
        public Window $window,
        public string $category,
        array $ranked,
        private int $size,
    ) {
        $this->candidates = array_values($ranked);
        $this->places = array_keys($ranked);
    }

    /** @return array<int, ?int> by rank, where it differs: the rank without the limit by channel, null beyond the list's end */
    public function limitedRanks(): array
    {
        $ranks = [];
        foreach ($this->places as $index => $place) {
            if ($place !== $index) {
                $ranks[$index + 1] = $place < $this->size ? $place + 1 : null;
            }
        }

        return $ranks;
    }
}

/** The regions that rank by more than the forecast: those with impressions, and those with videos that nobody counts. */
final class LearningRegions
{
    private const string CATALOGUE = <<<'SQL'
    SELECT c.region, c.video_id, v.channel, v.category, v.language, v.published_at, v.first_seen_at
    FROM catalogue AS c JOIN videos AS v ON v.id = c.video_id
    SQL;

    private readonly ImpressionStore $impressions;
    /** @var array<string, array<string, list<ClickCounts>>> by region, "#" and video */
    private array $counts = [];
    /** @var array<string, array<string, array<string, mixed>>> rows of CATALOGUE by region, "#" and video */
    private array $catalogue = [];
    /** @var array<string, array<string, Contender>> by region, "#" and video */
    private array $contenders = [];
    private bool $useImpressions = false;

    /** @param ?RegionShare $share whose regions are read; null for all */
    public function __construct(Database $database, ?RegionShare $share = null)
    {
        $isOwn = static fn(string $region): bool => $share === null || $share->has($region);
        $this->impressions = new ImpressionStore($database);
        foreach ($this->impressions->regions() as $region) {
            if ($isOwn($region)) {
                $this->counts[$region] = $this->impressions->counts($region);
            }
        }
        foreach ($database->rows(self::CATALOGUE) as $row) {
            if ($isOwn($row['region'])) {
                $this->catalogue[$row['region']]["#{$row['video_id']}"] = $row;
            }
        }
    }

    public function has(string $region): bool
    {
        return isset($this->counts[$region]) || isset($this->catalogue[$region]);
    }

    public function add(
        string $region,
        string $videoId,
        string $channel,
        ?string $category,
        ?string $language,
        ?int $publishedAt,
        Velocity $velocity,
    ): void {
        $this->contenders[$region]["#$videoId"] = new Contender(
            $videoId,
            $channel,
            $category,
            $publishedAt,
            $velocity,
            $this->counts[$region]["#$videoId"] ?? [],
            $language,
        );
    }

    /**
     * Adds the videos that only the catalogue names, and offers all.
     *
     * @param array<string, mixed> $videos removed, by id
     * @param array<string, mixed> $channels removed, by name
     * @param int $now UTC seconds
     */
    public function offerTo(
        RankedLists $lists,
        array $videos,
        array $channels,
        int $now,
        float $exploreShare,
    ): void {
        foreach ($this->catalogue as $region => $rows) {
            foreach (array_diff_key($rows, $this->contenders[$region] ?? []) as $row) {
                isset($videos[$row['video_id']]) || isset($channels[$row['channel']])
                    ? $lists->skipRemoved($region, $row['video_id'])
                    : $this->add(
                        $region,
                        $row['video_id'],
                        $row['channel'],
                        $row['category'],
                        $row['language'],
                        $row['published_at'],
                        Velocity::none($row['first_seen_at']),
                    );
            }
        }
        foreach ($this->contenders as $region => $contenders) {
            $traffic = $this->impressions->traffic($region, $now);
            $model = $lists->offerAll($region, array_values($contenders), $traffic, $exploreShare);
            $this->useImpressions = $this->useImpressions || $model->weight() > 0.0;
        }
        $lists->usesImpressions = $this->useImpressions;
    }

    /** What generations.formula says. */
    public function formula(): string
    {
        return Forecast::VERSION . ($this->useImpressions ? '+' . ClickModel::VERSION : '');
    }
}

/** What visitors of a region's lists did with a video, and what the ranking made of it. */
final readonly class VisitorParts
{
    public function __construct(
        /** At the video, older ones counted less. */
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

    /** @param int $now UTC seconds */
    public static function of(Contender $contender, ClickModel $model, ClickRate $rate, int $now): self
    {
        [$impressions, $clicks] = $contender->sums($now);

        return new self(
            $impressions,
            $clicks,
            $model->weight(),
            $rate->prior,
            $rate->mean,
            min(1.0, $rate->mean + $rate->deviation),
            $rate->isHeld,
        );
    }
}
