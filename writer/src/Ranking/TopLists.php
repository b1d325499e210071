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
    public function __construct(
        private readonly array $windows,
        private readonly ChannelLimit $channelLimit = new ChannelLimit(),
    ) {}

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
            $targets = [($lists[self::ALL_VIDEOS] ??= new TopList(self::MAX_RANKS, $this->channelLimit))];
            foreach ($names as $name) {
                $targets[] = $lists[$name] ??= new TopList(self::MAX_RANKS_OF_CATEGORY, $this->channelLimit);
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
 * 2 · size + ChannelLimit::$withinRanks candidates.
 */
final class TopList
{
    /** So many are kept of those that may be tried: all ranks that visitors see, twice, and those that have earned one. */
    private const int TRIALS = 150;
    private const float TRIAL_DEVIATIONS = 3.0;

    /** @var list<Candidate> */
    private array $candidates = [];
    /** A candidate with a lower score cannot get into the list. */
    private float $threshold = 0.0;
    /** @var list<Candidate> those that may turn out best */
    private array $trials = [];
    /** @var list<float> what they may turn out to be */
    private array $trialUppers = [];
    private float $trialThreshold = 0.0;

    public function __construct(public readonly int $size, private readonly ChannelLimit $channelLimit) {}

    /** False when a candidate with this score cannot get into the list. */
    public function admits(float $score): bool
    {
        return $score >= $this->threshold;
    }

    /** @param Candidate $candidate one whose score is admitted */
    public function add(Candidate $candidate): void
    {
        $this->candidates[] = $candidate;
        if (count($this->candidates) >= 2 * $this->size + $this->channelLimit->withinRanks) {
            $this->dropUnreachable();
        }
    }

    /** Adds a video that may get a place which it has not earned. */
    public function addTrial(Candidate $candidate): void
    {
        $upper = $candidate->rate->mean + self::TRIAL_DEVIATIONS * $candidate->rate->deviation;
        if ($upper < $this->trialThreshold) {
            return;
        }
        $this->trials[] = $candidate;
        $this->trialUppers[] = $upper;
        if (count($this->trials) >= 2 * self::TRIALS) {
            $this->sortTrials();
            $this->trialThreshold = end($this->trialUppers);
        }
    }

    /** @return array<int, Candidate> by rank, at most `size`; the keys are the places without a limit by channel, exact below `size` */
    public function ranked(Window $window, ?Trials $trials = null): array
    {
        $this->candidates = Candidate::sorted($this->candidates);
        $limited = $this->channelLimit->apply($this->candidates);
        if ($trials !== null) {
            $this->sortTrials();
            $limited = $trials->placed(
                $window,
                $this->candidates,
                $limited,
                $this->trials,
                $this->channelLimit,
            );
        }

        return array_slice($limited, 0, $this->size, true);
    }

    private function sortTrials(): void
    {
        $ids = array_column($this->trials, 'videoId');
        $ages = array_map(static fn(Candidate $one): int => $one->publishedAt ?? 0, $this->trials);
        array_multisort(
            $this->trialUppers,
            SORT_DESC,
            SORT_NUMERIC,
            $ages,
            SORT_DESC,
            SORT_NUMERIC,
            $ids,
            SORT_ASC,
            SORT_STRING,
            $this->trials,
        );
        $this->trials = array_slice($this->trials, 0, self::TRIALS);
        $this->trialUppers = array_slice($this->trialUppers, 0, self::TRIALS);
    }

    /**
     * Keeps the best, and the candidates that the channel limit moves into the first ranks: few channels may hold
     * all of the best. A candidate that is in neither cannot get into the list, whatever is added later.
     */
    private function dropUnreachable(): void
    {
        $this->candidates = Candidate::sorted($this->candidates);
        $first = $this->channelLimit->first($this->candidates);
        $last = end($first);
        $best = array_slice($this->candidates, 0, $this->size, true);
        $this->threshold =
            count($first) < $this->channelLimit->withinRanks
                ? 0.0 // one of another channel gets in, whatever its score
                : min($last === false ? INF : $last->score, end($best)->score);
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
