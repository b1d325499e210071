<?php

declare(strict_types=1);

namespace TrendVault\Writer\Ranking;

use Generator;
use TrendVault\Writer\Observations\ObservationParser;

/** The lists of a region by window and name: '' for all videos, a category, or ListLanguage::listName. */
final class TopLists
{
    private const string ALL_VIDEOS = '';
    private const int MAX_RANKS = 500;
    /** Of the list of a language, too. */
    private const int MAX_RANKS_OF_CATEGORY = 100;

    /** @var array<string, array<array-key, TopList>> by window and name, of which PHP makes a number where it can */
    private array $lists = [];
    /** @var array<string, array<string, ListTargets>> by category and language */
    private array $targets = [];
    /** @var array<string, string> by tag; '' for one that has no list */
    private array $languages = [];

    /** @param list<Window> $windows */
    public function __construct(
        private readonly array $windows,
        private readonly ChannelLimit $channelLimit,
    ) {}

    /**
     * The lists that a video may get into, which is counted.
     *
     * @param ?string $tag of its language (BCP 47)
     */
    public function targetsFor(?string $category, ?string $tag): ListTargets
    {
        $language = $tag === null ? '' : ($this->languages[$tag] ??= ListLanguage::of($tag) ?? '');
        $targets = $this->targets[$category ?? ''][$language] ?? $this->addTargets($category, $language);
        $targets->videos++;

        return $targets;
    }

    /** How many videos were counted. */
    public function videoCount(): int
    {
        return array_sum($this->videosByLanguage());
    }

    /** @return Generator<array{Window, string, TopList}> in the order of window and name */
    public function published(): Generator
    {
        $unpublished = $this->unpublishedNames();
        foreach ($this->lists as $window => $lists) {
            ksort($lists, SORT_STRING);
            foreach (array_diff_key($lists, $unpublished) as $name => $list) {
                yield [Window::from($window), (string) $name, $list];
            }
        }
    }

    private function addTargets(?string $category, string $language): ListTargets
    {
        $names = array_filter(
            [$category, $language === '' ? null : ListLanguage::listName($language)],
            is_string(...),
        );
        $byWindow = [];
        foreach ($this->windows as $window) {
            $lists = &$this->lists[$window->value];
            $targets = [($lists[self::ALL_VIDEOS] ??= new TopList(self::MAX_RANKS, $this->channelLimit))];
            foreach ($names as $name) {
                $targets[] = $lists[$name] ??= new TopList(self::MAX_RANKS_OF_CATEGORY, $this->channelLimit);
            }
            $byWindow[] = [$window, $targets];
        }

        return $this->targets[$category ?? ''][$language] = new ListTargets($byWindow);
    }

    /** @return array<string, int> as keys */
    private function unpublishedNames(): array
    {
        $videos = $this->videosByLanguage();
        unset($videos['']);
        $unpublished = array_diff(array_keys($videos), ListLanguage::chosen($videos));

        return array_flip(array_map(ListLanguage::listName(...), $unpublished));
    }

    /** @return array<string, int> how many were counted, '' for those without a list of their language */
    private function videosByLanguage(): array
    {
        $videos = [];
        foreach ($this->targets as $languages) {
            foreach ($languages as $language => $targets) {
                $videos[$language] = ($videos[$language] ?? 0) + $targets->videos;
            }
        }

        return $videos;
    }
}

/**
 * A list while it is built: the best of any number of candidates, under the channel limit. Holds at most
 * 2 · size + ChannelLimit::$withinRanks candidates, and 2 · TRIALS of those that may be tried.
 */
final class TopList
{
    /** So many are kept of those that may be tried: all ranks that visitors see, twice, and those that have earned one. */
    private const int TRIALS = 150;

    /** @var list<Candidate> */
    private array $candidates = [];
    /** Of the last of the best, when candidates were dropped. */
    private float $endScore = -INF;
    private string $endId = '';
    /** @var ?array{float, string} score and id of the last in the first ranks; null while channels leave room there */
    private ?array $firstEnd = null;
    /** @var array<string, array{float, string}> of the last that a channel may have in the first ranks, by "#" and channel */
    private array $channelEnds = [];
    /** @var list<Candidate> those that may turn out best */
    private array $trials = [];
    /** @var list<float> what they may turn out to be */
    private array $trialUppers = [];
    /** @var ?array{float, int, string} upper bound, time of publication and id of the last of them, when some were dropped */
    private ?array $trialEnd = null;

    public function __construct(public readonly int $size, private readonly ChannelLimit $channelLimit) {}

    /** False when such a candidate cannot get into the list. */
    public function admits(float $score, string $videoId, string $channel): bool
    {
        if ($score > $this->endScore || ($score === $this->endScore && strcmp($videoId, $this->endId) <= 0)) {
            return true;
        }
        $channelEnd = $this->channelEnds["#$channel"] ?? null;

        return !self::isBehind($score, $videoId, $this->firstEnd) &&
            !self::isBehind($score, $videoId, $channelEnd);
    }

    /** Whether the channel has nothing to do with it that a candidate is not admitted: none after it will be, either. */
    public function isClosed(float $score, string $videoId): bool
    {
        return self::isBehind($score, $videoId, $this->firstEnd);
    }

    /** @param Candidate $candidate one that is admitted */
    public function add(Candidate $candidate): void
    {
        $this->candidates[] = $candidate;
        if (count($this->candidates) >= 2 * $this->size + $this->channelLimit->withinRanks) {
            $this->dropUnreachable();
        }
    }

    /**
     * Adds a video that may get a place which it has not earned.
     *
     * @param float $upper what its rate may turn out to be
     * @return bool false when there are enough that are more promising
     */
    public function addTrial(Candidate $candidate, float $upper): bool
    {
        $end = $this->trialEnd;
        if (
            $end !== null &&
            ($upper <=> $end[0] ?:
            ($candidate->publishedAt ?? 0) <=> $end[1] ?:
                strcmp($end[2], $candidate->videoId)) < 0
        ) {
            return false;
        }
        $this->trials[] = $candidate;
        $this->trialUppers[] = $upper;
        if (count($this->trials) >= 2 * self::TRIALS) {
            $this->sortTrials();
            $last = $this->trials[self::TRIALS - 1];
            $this->trialEnd = [$this->trialUppers[self::TRIALS - 1], $last->publishedAt ?? 0, $last->videoId];
        }

        return true;
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
        [$uppers, $trials] = [$this->trialUppers, $this->trials];
        $ids = array_column($trials, 'videoId');
        $ages = array_map(static fn(Candidate $one): int => $one->publishedAt ?? 0, $trials);
        array_multisort(
            $uppers,
            SORT_DESC,
            SORT_NUMERIC,
            $ages,
            SORT_DESC,
            SORT_NUMERIC,
            $ids,
            SORT_ASC,
            SORT_STRING,
            $trials,
        );
        /** @var list<float> $uppers */
        $this->trials = array_slice($trials, 0, self::TRIALS);
        $this->trialUppers = array_slice($uppers, 0, self::TRIALS);
    }

    /**
     * Keeps the best, and the candidates that the channel limit moves into the first ranks: few channels may hold
     * all of the best. A candidate that is in neither cannot get into the list, whatever is added later.
     */
    private function dropUnreachable(): void
    {
        $this->candidates = Candidate::sorted($this->candidates);
        $best = array_slice($this->candidates, 0, $this->size, true);
        $end = $this->candidates[$this->size - 1];
        [$this->endScore, $this->endId] = [$end->score, $end->videoId];
        $first = $this->channelLimit->first($this->candidates);
        $last = end($first);
        $this->firstEnd = match (true) {
            count($first) < $this->channelLimit->withinRanks => null,
            $last === false => [INF, ''],
            default => [$last->score, $last->videoId],
        };
        $this->channelEnds = $counts = [];
        foreach ($first as $candidate) {
            $channel = "#$candidate->channel";
            $counts[$channel] = ($counts[$channel] ?? 0) + 1;
            if ($counts[$channel] === $this->channelLimit->videos) {
                $this->channelEnds[$channel] = [$candidate->score, $candidate->videoId];
            }
        }
        $this->candidates = array_values($best + $first);
    }

    /** @param ?array{float, string} $end score and id; null for none */
    private static function isBehind(float $score, string $videoId, ?array $end): bool
    {
        return $end !== null && ($score < $end[0] || ($score === $end[0] && strcmp($videoId, $end[1]) > 0));
    }
}

/** The lists that videos of one region, category and language may get into. */
final class ListTargets
{
    /** How many such videos there are. */
    public int $videos = 0;
    /**
     * @var array<string, int> UTC seconds, by "#" and channel, "" for all: videos that nobody saw or counted, and whose age
     *   starts at this time or before, get into none
     */
    public array $unknownUntil = ['' => PHP_INT_MIN];

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
