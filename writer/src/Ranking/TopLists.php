<?php

declare(strict_types=1);

namespace TrendVault\Writer\Ranking;

use Generator;
use TrendVault\Writer\Observations\ObservationParser;

/** The lists of a generation by region, window and name: '' for all videos, a category, or ListLanguage::listName. */
final class TopLists
{
    private const string ALL_VIDEOS = '';
    private const int MAX_RANKS = 500;
    /** Of the list of a language, too. */
    private const int MAX_RANKS_OF_CATEGORY = 100;

    /** @var array<string, array<string, array<string, TopList>>> by region, window, name */
    private array $lists = [];
    /** @var array<string, array<string, array<string, ListTargets>>> by region, category and language */
    private array $targets = [];
    /** @var array<string, string> by tag; '' for one that has no list */
    private array $languages = [];

    /** @param list<Window> $windows */
    public function __construct(private readonly array $windows) {}

    /**
     * The lists that a video may get into, which is counted.
     *
     * @param ?string $tag of its language (BCP 47)
     */
    public function targetsFor(string $region, ?string $category, ?string $tag): ListTargets
    {
        $language = $tag === null ? '' : ($this->languages[$tag] ??= ListLanguage::of($tag) ?? '');
        $targets =
            $this->targets[$region][$category ?? ''][$language] ??
            $this->addTargets($region, $category, $language);
        $targets->videos++;

        return $targets;
    }

    /** How many videos of a region were counted. */
    public function videoCount(string $region): int
    {
        return array_sum($this->videosByLanguage($region));
    }

    public function totalVideoCount(): int
    {
        return array_sum(array_map($this->videoCount(...), array_keys($this->targets)));
    }

    /** @return Generator<array{string, Window, string, TopList}> in the order of region, window and name */
    public function published(): Generator
    {
        ksort($this->lists);
        foreach ($this->lists as $region => $windows) {
            $unpublished = $this->unpublishedNames($region);
            foreach ($windows as $window => $lists) {
                ksort($lists, SORT_STRING);
                foreach (array_diff_key($lists, $unpublished) as $name => $list) {
                    yield [$region, Window::from($window), (string) $name, $list];
                }
            }
        }
    }

    private function addTargets(string $region, ?string $category, string $language): ListTargets
    {
        $names = array_filter(
            [$category, $language === '' ? null : ListLanguage::listName($language)],
            is_string(...),
        );
        $byWindow = [];
        foreach ($this->windows as $window) {
            $lists = &$this->lists[$region][$window->value];
            $targets = [($lists[self::ALL_VIDEOS] ??= new TopList(self::MAX_RANKS))];
            foreach ($names as $name) {
                $targets[] = $lists[$name] ??= new TopList(self::MAX_RANKS_OF_CATEGORY);
            }
            $byWindow[] = [$window, $targets];
        }

        return $this->targets[$region][$category ?? ''][$language] = new ListTargets($byWindow);
    }

    /** @return array<string, int> as keys */
    private function unpublishedNames(string $region): array
    {
        $videos = $this->videosByLanguage($region);
        unset($videos['']);
        $unpublished = array_diff(array_keys($videos), ListLanguage::chosen($videos));

        return array_flip(array_map(ListLanguage::listName(...), $unpublished));
    }

    /** @return array<string, int> how many were counted, '' for those without a list of their language */
    private function videosByLanguage(string $region): array
    {
        $videos = [];
        foreach ($this->targets[$region] ?? [] as $languages) {
            foreach ($languages as $language => $targets) {
                $videos[$language] = ($videos[$language] ?? 0) + $targets->videos;
            }
        }

        return $videos;
    }
}

/**
 * A list while it is built: the best of any number of candidates, under the channel limit. Holds at most
 * 2 · size + ChannelLimit::WITHIN_RANKS candidates.
 */
final class TopList
{
    /** @var list<Candidate> */
    private array $candidates = [];
    /** A candidate with a lower score cannot get into the list. */
    private float $threshold = 0.0;

    public function __construct(public readonly int $size) {}

    /** False when a candidate with this score cannot get into the list. */
    public function admits(float $score): bool
    {
        return $score >= $this->threshold;
    }

    /** @param Candidate $candidate one whose score is admitted */
    public function add(Candidate $candidate): void
    {
        $this->candidates[] = $candidate;
        if (count($this->candidates) >= 2 * $this->size + ChannelLimit::WITHIN_RANKS) {
            $this->dropUnreachable();
        }
    }

    /** @return array<int, Candidate> by rank, at most `size`; the keys are the places without a limit by channel, exact below `size` */
    public function ranked(?Exploration $exploration = null): array
    {
        if ($exploration !== null) {
            return $exploration->ranked($this->candidates, $this->size);
        }
        $this->candidates = Candidate::sorted($this->candidates);

        return array_slice(ChannelLimit::apply($this->candidates), 0, $this->size, true);
    }

    /**
     * Keeps the best, and the candidates that the channel limit moves into the first ranks: few channels may hold
     * all of the best. A candidate that is in neither cannot get into the list, whatever is added later.
     */
    private function dropUnreachable(): void
    {
        $this->candidates = Candidate::sorted($this->candidates);
        $first = ChannelLimit::first($this->candidates);
        $last = count($first) < ChannelLimit::WITHIN_RANKS ? null : end($first);
        $best = array_slice($this->candidates, 0, $this->size, true);
        $this->threshold = min($last->score ?? 0.0, end($best)->score);
        $this->candidates = array_values($best + $first);
    }
}

/** The lists that videos of one region, category and language may get into. */
final class ListTargets
{
    /** How many such videos there are. */
    public int $videos = 0;

    /** @param list<array{Window, non-empty-list<TopList>}> $byWindow */
    public function __construct(public readonly array $byWindow) {}
}

/** Which languages have lists of their own, and what these lists are called. */
final readonly class ListLanguage
{
    /** As many as the first ranks, in which channels are limited. */
    public const int LEAST_VIDEOS = ChannelLimit::WITHIN_RANKS;
    public const int MOST_IN_REGION = 5;
    /** ISO 639-2: undetermined, of no language, of several, of one without a code. */
    private const array NO_LANGUAGE = ['und', 'zxx', 'mul', 'mis'];

    /**
     * The primary subtag, in lower case: the range that takes the tag, however many subtags it has (RFC 4647, 3.3.1).
     * Null for what no registered language has (RFC 5646, 2.2.1: these have 2 or 3 letters).
     *
     * @param ?string $tag BCP 47
     */
    public static function of(?string $tag): ?string
    {
        return preg_match('/^([a-z]{2,3})(?:-|$)/iD', $tag ?? '', $match) === 1 &&
            !in_array(strtolower($match[1]), self::NO_LANGUAGE, true)
            ? strtolower($match[1])
            : null;
    }

    public static function listName(string $language): string
    {
        return ObservationParser::LANGUAGE_LISTS . $language;
    }

    /**
     * @param array<string, int> $videos how many a region has, by language
     * @return list<string> those with the most, of which there are enough
     */
    public static function chosen(array $videos): array
    {
        $enough = array_filter($videos, static fn(int $count): bool => $count >= self::LEAST_VIDEOS);
        ksort($enough, SORT_STRING);
        arsort($enough, SORT_NUMERIC); // stable

        return array_slice(array_keys($enough), 0, self::MOST_IN_REGION);
    }
}

/**
 * Decides how much a list of a region tries: candidates rank by a mixture of what they have earned and of the upper
 * bound of what they may be worth. Ranks that were not earned get at most a share of all looks.
 * Nothing is drawn at random: the same counts give the same list, and it changes gradually with them.
 */
final readonly class Exploration
{
    private const int HALVINGS = 6;

    /**
     * @param float $share of the looks that may go to ranks which were not earned, from 0 to 1
     * @param array<int, float> $looksByRank how many look at a rank, by rank group
     */
    public function __construct(private float $share, private array $looksByRank) {}

    /**
     * @param list<Candidate> $candidates
     * @return array<int, Candidate> by rank, at most `size`, under the channel limit; the keys are the places without it
     */
    public function ranked(array $candidates, int $size): array
    {
        $earned = self::order($candidates, 0.0, $size);
        $places = [];
        foreach (array_values($earned) as $index => $candidate) {
            $places["#$candidate->videoId"] = $index;
        }
        $marked = fn(float $degree): array => self::mark(self::order($candidates, $degree, $size), $places);
        if ($this->share <= 0.0 || array_sum($this->looksByRank) <= 0.0) {
            return $earned;
        }
        $list = $marked(1.0);
        if ($this->isWithinShare($list)) {
            return $list;
        }
        [$list, $low, $step] = [$earned, 0.0, 0.5];
        for ($halving = 0; $halving < self::HALVINGS; $halving++, $step /= 2) {
            $tried = $marked($low + $step);
            if ($this->isWithinShare($tried)) {
                [$list, $low] = [$tried, $low + $step];
            }
        }

        return $list;
    }

    /** @param array<int, Candidate> $list by rank */
    private function isWithinShare(array $list): bool
    {
        $all = $explored = 0.0;
        foreach (array_values($list) as $index => $candidate) {
            $looks = $this->looksByRank[RankGroup::of($index + 1)];
            $all += $looks;
            $explored += $candidate->isExplored ? $looks : 0.0;
        }

        return $explored <= $this->share * $all;
    }

    /**
     * @param list<Candidate> $candidates
     * @param float $degree 0 for what is earned, 1 for the upper bounds
     * @return array<int, Candidate> by rank
     */
    private static function order(array $candidates, float $degree, int $size): array
    {
        $scored = array_map(
            static fn(Candidate $candidate): Candidate => $candidate->explored($degree),
            $candidates,
        );

        return array_slice(ChannelLimit::apply(Candidate::sorted($scored)), 0, $size, true);
    }

    /**
     * @param array<int, Candidate> $list by rank
     * @param array<string, int> $places from 0, that were earned
     * @return array<int, Candidate>
     */
    private static function mark(array $list, array $places): array
    {
        foreach (array_keys($list) as $index => $key) {
            if ($index < ($places["#{$list[$key]->videoId}"] ?? PHP_INT_MAX)) {
                $list[$key] = $list[$key]->marked();
            }
        }

        return $list;
    }
}

/** Limits how many videos of one channel are on the first page. */
final readonly class ChannelLimit
{
    public const int MAX_VIDEOS = 3;
    public const int WITHIN_RANKS = 24;

    /**
     * Moves the videos above a channel's limit behind the first ranks, where they keep their order.
     * When there are not enough other channels to fill the first ranks, the list ends early:
     * any further video would get one of these ranks and break the limit.
     *
     * @param list<Candidate> $candidates in order
     * @return array<int, Candidate> by rank; the keys are their places before, from 0
     */
    public static function apply(array $candidates): array
    {
        $first = self::first($candidates);

        return count($first) < self::WITHIN_RANKS ? $first : $first + $candidates;
    }

    /**
     * @param list<Candidate> $candidates in order
     * @return array<int, Candidate> those in the first ranks, by index in the list
     */
    public static function first(array $candidates): array
    {
        $first = $counts = [];
        foreach ($candidates as $index => $candidate) {
            $channel = "#$candidate->channel";
            $counts[$channel] = ($counts[$channel] ?? 0) + 1;
            if ($counts[$channel] <= self::MAX_VIDEOS) {
                $first[$index] = $candidate;
            }
            if (count($first) === self::WITHIN_RANKS) {
                break;
            }
        }

        return $first;
    }
}

/** A video that may get into a list. */
final readonly class Candidate
{
    public function __construct(
        public string $videoId,
        public string $channel,
        public float $score,
        public Velocity $velocity,
        /** What the score is without exploration; null where nothing is explored. */
        public ?float $earned = null,
        /** Whether it stands above the rank that it has earned. */
        public bool $isExplored = false,
        /** UTC seconds; null when that is not known. */
        public ?int $publishedAt = null,
    ) {}

    /**
     * The total order of every list: score, highest first, then id. PHP sorts columns ten times as fast as objects.
     *
     * @param list<self> $candidates
     * @return list<self>
     */
    public static function sorted(array $candidates): array
    {
        $scores = array_column($candidates, 'score');
        $ids = array_column($candidates, 'videoId');
        array_multisort($scores, SORT_DESC, SORT_NUMERIC, $ids, SORT_ASC, SORT_STRING, $candidates);

        return $candidates;
    }

    /** @param float $degree 0 for the score that is earned, 1 for this one */
    public function explored(float $degree): self
    {
        $earned = $this->earned ?? $this->score;
        $score = $earned <= 0.0 ? $earned : $earned * ($this->score / $earned) ** $degree;

        return new self(
            $this->videoId,
            $this->channel,
            $score,
            $this->velocity,
            $earned,
            publishedAt: $this->publishedAt,
        );
    }

    public function marked(): self
    {
        return new self(
            $this->videoId,
            $this->channel,
            $this->score,
            $this->velocity,
            $this->earned,
            true,
            $this->publishedAt,
        );
    }
}
