<?php

declare(strict_types=1);

namespace TrendVault\Writer\Simulation;

use Random\Engine\Xoshiro256StarStar;
use Random\Randomizer;
use TrendVault\Writer\Ranking\ClickCounts;
use TrendVault\Writer\Ranking\Contender;
use TrendVault\Writer\Ranking\CountedImpressions;
use TrendVault\Writer\Ranking\Velocity;
use TrendVault\Writer\WriterException;

/** A made-up video site and its visitors. Every field may be set by a file of JSON, under its name in snake_case. */
final readonly class World
{
    /** When the simulation starts, UTC seconds. */
    public const int START = 1_700_000_000;
    private const array NULLABLE = ['oldVideos', 'lifeHours', 'taperHours'];
    /** Something is divided by them. */
    private const string POSITIVE = '/^(births|taper|list|lastRank|attackers|appealMean)/';
    private const string BELOW_ONE = '/^(elsewhere|attack)Share$/';

    public function __construct(
        public float $loadsPerHour = 20_000.0,
        /** The share of all views that come from elsewhere (search, subscriptions), from 0 to below 1. */
        public float $elsewhereShare = 0.0,
        public float $days = 4.0,
        /** Days that are not measured. */
        public float $warmUpDays = 1.0,
        public float $birthsPerHour = 12.0,
        /** Videos that are there at the start, of ages up to oldHours; null for those that births would have left. */
        public ?int $oldVideos = null,
        public float $oldHours = 1000.0,
        /** Null for videos that never leave. */
        public ?float $lifeHours = 75.0,
        /** The mean chance that somebody who looks at a new video opens it; lognormal with appealSigma. */
        public float $appealMean = 0.04,
        public float $appealSigma = 1.0,
        /** Appeal falls as taper / (age + taper); null for one that never falls. */
        public ?float $taperHours = 7.0,
        /** The share of videos whose appeal never falls. */
        public float $evergreenShare = 0.0,
        /** Of videos whose appeal grows once more by what it was at birth. */
        public float $burstShare = 0.05,
        public float $elsewhereSigma = 0.7,
        /** Whether elsewhere likes other videos, which says nothing of what is wanted here. */
        public bool $elsewhereIsOther = false,
        /** The share of videos of which the ranking is told when they were published. */
        public float $datedShare = 1.0,
        /** From one list to the next. */
        public float $listMinutes = 5.0,
        /** A visitor looks at rank k with chance 1 / k^steepness. */
        public float $steepness = 0.9,
        public int $lastRank = 48,
        /** Whether a message says which ranks were looked at; without, that all were on screen. */
        public bool $saysDepth = true,
        /** The share of all messages that push one video up, or down. */
        public float $attackShare = 0.0,
        public bool $pushesDown = false,
        public float $attackFromHour = 48.0,
        /** Where the pushed video stands when the attack starts. */
        public int $attackedRank = 200,
        /** Messages about a page above so many a page served are scaled down, in proportion; 0 for no ceiling. */
        public float $ceilingFactor = 3.0,
        /** From how many addresses the false messages come. Visitors have one each. */
        public int $attackers = 1,
        /** Whether the edge counts clicks by cells of senders. */
        public bool $hasSenderCells = true,
    ) {}

    /**
     * @param array<array-key, mixed> $fields by name in snake_case
     * @throws WriterException
     */
    public function with(array $fields): self
    {
        /** @var array<string, mixed> $known */
        $known = get_object_vars($this);
        foreach ($fields as $name => $value) {
            $property = lcfirst(str_replace('_', '', ucwords((string) $name, '_')));
            $isKnown = array_key_exists($property, $known);
            $least = preg_match(self::POSITIVE, $property) === 1 ? 0.0001 : 0;
            $most = str_ends_with($property, 'Share') || $property === 'appealMean' ? 1 : 1_000_000_000;
            $most = preg_match(self::BELOW_ONE, $property) === 1 ? 0.999 : $most;
            $isNumber = (is_int($value) || is_float($value)) && $value >= $least && $value <= $most;
            $isNull = $value === null && in_array($property, self::NULLABLE, true);
            $fits = $isKnown && (is_bool($known[$property]) ? is_bool($value) : $isNumber || $isNull);
            if (!$fits) {
                $names = implode(', ', array_keys($known));
                $names = strtolower((string) preg_replace('/[A-Z]/', '_$0', $names));
                throw WriterException::usage(
                    "Cannot simulate: the world's $name is not known or cannot be so, expected a number from $least to $most, or true or false; there are $names.",
                );
            }
            $isWhole = is_int($known[$property]) || $property === 'oldVideos';
            $known[$property] = $isNumber ? ($isWhole ? (int) ceil($value) : (float) $value) : $value;
        }

        $world = new self(...$known);
        if (($world->lifeHours ?? INF) * $world->birthsPerHour < 1 || $world->days <= $world->warmUpDays) {
            throw WriterException::usage(
                'Cannot simulate: expected life_hours of at least 1 / births_per_hour, and more days than warm_up_days.',
            );
        }

        return $world;
    }

    /** What is left of a video's appeal at an age in hours. */
    public function left(float $age, bool $isEvergreen): float
    {
        $taper = $isEvergreen ? null : $this->taperHours;

        return $taper === null ? 1.0 : $taper / (max(0.0, $age) + $taper);
    }

    /** What the ceiling leaves of each message about a page. */
    public function kept(float $trueMessages, float $falseMessages): float
    {
        return $this->ceilingFactor <= 0.0 || $falseMessages <= 0.0
            ? 1.0
            : min(1.0, ($this->ceilingFactor * $trueMessages) / ($trueMessages + $falseMessages));
    }

    /** The share of visitors who look at a rank. */
    public function lookShare(int $rank): float
    {
        return $rank > $this->lastRank ? 0.0 : $rank ** -$this->steepness;
    }
}

/** A video of the world, and what the ranking may know of it. Hours count from the simulation's start. */
final class SimulatedVideo
{
    private const float LARGEST_CHANCE = 0.95;

    public int $elsewhereViews = 0;
    public ?Velocity $velocity = null;
    /** @var array<int, ClickCounts> by rank and age group */
    private array $counts = [];
    /** Since the last list. */
    public float $newImpressions = 0.0;
    public float $newClicks = 0.0;

    public function __construct(
        public readonly string $id,
        public readonly float $bornAt,
        private readonly float $appeal,
        public readonly float $elsewhereFactor,
        /** The age at which it bursts; null when it does not. */
        private readonly ?float $burstsAtAge,
        private readonly bool $isDated = true,
        public readonly bool $isEvergreen = false,
    ) {}

    public static function draw(World $world, Draws $draws, int $number, float $bornAt): self
    {
        return new self(
            sprintf('v%06d', $number),
            $bornAt,
            $world->appealMean * $draws->factor($world->appealSigma),
            $draws->factor($world->elsewhereIsOther ? $world->appealSigma : $world->elsewhereSigma),
            $draws->share() < $world->burstShare ? 6 + 54 * $draws->share() : null,
            crc32("$number dated") < $world->datedShare * 2 ** 32,
            $world->evergreenShare > 0.0 && $draws->share() < $world->evergreenShare,
        );
    }

    /**
     * @param list<self> $videos
     * @param array<string, float> $scores by id
     * @return list<self> highest score first; equal ones in an order that has nothing to do with age
     */
    public static function inOrder(array $videos, array $scores): array
    {
        $checksums = array_map(static fn(self $video): int => crc32($video->id), $videos);
        $scores = array_values($scores);
        array_multisort($scores, SORT_DESC, SORT_NUMERIC, $checksums, $videos);

        return $videos;
    }

    /** The chance that a visitor who looks at it opens it. */
    public function chance(World $world, float $hour): float
    {
        $age = max(0.0, $hour - $this->bornAt);
        $left = $world->left($age, $this->isEvergreen);
        if ($this->burstsAtAge !== null && $age > $this->burstsAtAge) {
            $left += $world->left($age - $this->burstsAtAge, $this->isEvergreen);
        }

        return min(self::LARGEST_CHANCE, $this->appeal * $left);
    }

    /** In parts of what elsewhere brings to the mean video. */
    public function elsewhere(World $world, float $hour): float
    {
        $liked = $world->elsewhereIsOther
            ? $world->appealMean * $world->left($hour - $this->bornAt, $this->isEvergreen)
            : $this->chance($world, $hour);

        return $this->elsewhereFactor * $liked;
    }

    public function observe(int $at): void
    {
        $this->velocity =
            $this->velocity?->next($at, $this->elsewhereViews) ??
            Velocity::first($at, $this->elsewhereViews, $this->toldPublishedAt());
    }

    public function count(CountedImpressions $counted): void
    {
        $new = $counted->at(ClickCounts::ageStartsAt($this->firstSeenAt(), $this->toldPublishedAt()));
        $key = 100 * $new->rankGroup + $new->ageGroup;
        $this->counts[$key] = isset($this->counts[$key]) ? $this->counts[$key]->plus($new) : $new;
        $this->newImpressions += $counted->impressions;
        $this->newClicks += $counted->clicks;
    }

    /** @return array{float, float} impressions and clicks */
    public function sums(): array
    {
        return ClickCounts::sums(array_values($this->counts), 0);
    }

    public function publishedAt(): int
    {
        return World::START + (int) round($this->bornAt * 3600);
    }

    private function toldPublishedAt(): ?int
    {
        return $this->isDated ? $this->publishedAt() : null;
    }

    /** A video without a date is seen first when it is published, or when the simulation starts. */
    private function firstSeenAt(): int
    {
        return $this->velocity->firstObservedAt ??
            ($this->isDated ? $this->publishedAt() : max(World::START, $this->publishedAt()));
    }

    public function contender(): Contender
    {
        return new Contender(
            $this->id,
            $this->id,
            null,
            $this->toldPublishedAt(),
            $this->velocity ?? Velocity::none($this->firstSeenAt()),
            array_values($this->counts),
        );
    }
}

/** Random numbers of a seed, in streams that do not overlap. */
final readonly class Draws
{
    private Randomizer $randomizer;

    public function __construct(int $seed, int $stream = 0)
    {
        $engine = new Xoshiro256StarStar($seed);
        for (; $stream > 0; $stream--) {
            $engine->jump();
        }
        $this->randomizer = new Randomizer($engine);
    }

    public function share(): float
    {
        return $this->randomizer->nextFloat();
    }

    public function below(int $count): int
    {
        return $this->randomizer->getInt(0, $count - 1);
    }

    /** Box and Muller (1958). */
    public function normal(): float
    {
        return sqrt(-2 * log(1 - $this->share())) * cos(2 * M_PI * $this->share());
    }

    /** Lognormal with mean 1. */
    public function factor(float $sigma): float
    {
        return exp($sigma * $this->normal() - ($sigma * $sigma) / 2);
    }

    /** Poisson: Knuth's product below 30, else the normal distribution. */
    public function count(float $mean): int
    {
        if ($mean > 30.0) {
            return max(0, (int) round($mean + sqrt($mean) * $this->normal()));
        }
        $limit = exp(-$mean);
        for ($count = 0, $product = $this->share(); $product > $limit; $count++) {
            $product *= $this->share();
        }

        return $count;
    }
}
