<?php

declare(strict_types=1);

namespace TrendVault\Writer\Ranking;

use Closure;
use Generator;
use TrendVault\Writer\Observations\ObservationParser;

/** The lists of a region by window and name: '' for all videos, a category, or as ListKinds names it. */
final class TopLists
{
    private const string ALL_VIDEOS = '';
    public const int MAX_RANKS = 500;
    /** Of the list of a language, too. */
    private const int MAX_RANKS_OF_CATEGORY = 100;
    /** Of a list by another kind. All of these together have at most this part of the ranks of the other lists. */
    private const int MAX_RANKS_OF_KIND = 48;
    private const int PART_OF_KINDS = 10;

    /** @var array<string, array<array-key, TopList>> by window and name, of which PHP makes a number where it can */
    private array $lists = [];
    /** @var array<string, array<string, ListTargets>> by category, and by names of lists by kind */
    private array $targets = [];
    /** @var array<string, string> names of lists by kind with a space between, by what ListKinds::sql() gives */
    private array $names = [];

    /**
     * @param list<Window> $windows
     * @param ?Closure(Window, string): ?Trials $trialsOf a list by its name; null where nobody looks at it
     */
    public function __construct(
        private readonly array $windows,
        private readonly ChannelLimit $channelLimit,
        private readonly ?Closure $trialsOf = null,
    ) {}

    /**
     * The lists that a video may get into, which is counted.
     *
     * @param string $kinds as ListKinds::sql() gives them
     */
    public function targetsFor(?string $category, string $kinds): ListTargets
    {
        $names = $this->names[$kinds] ??= implode(' ', ListKinds::names($kinds));
        $targets = $this->targets[$category ?? ''][$names] ?? $this->addTargets($category, $names);
        $targets->videos++;

        return $targets;
    }

    /** How many videos were counted. */
    public function videoCount(): int
    {
        $videos = 0;
        foreach ($this->targets as $ofCategory) {
            $videos += array_sum(array_column($ofCategory, 'videos'));
        }

        return $videos;
    }

    /** @return Generator<array{Window, string, TopList, int}> in the order of window and name, with the most ranks of each */
    public function published(): Generator
    {
        $unpublished = $this->unpublishedNames();
        foreach ($this->lists as $window => $lists) {
            ksort($lists, SORT_STRING);
            $published = array_diff_key($lists, $unpublished);
            [$ranks, $kinds] = [0, 0];
            foreach ($published as $name => $list) {
                $isBounded = ListKinds::isOther((string) $name);
                $ranks += $isBounded ? 0 : $list->length();
                $kinds += (int) $isBounded;
            }
            foreach ($published as $name => $list) {
                $isBounded = ListKinds::isOther((string) $name);
                $most = $isBounded ? intdiv($ranks, self::PART_OF_KINDS * $kinds) : PHP_INT_MAX;
                yield [Window::from($window), (string) $name, $list, min($list->size, $most)];
            }
        }
    }

    /** @param string $names of lists by kind, with a space between */
    private function addTargets(?string $category, string $names): ListTargets
    {
        /** @var non-empty-array<int|string, int> $sizes */
        $sizes = [self::ALL_VIDEOS => self::MAX_RANKS];
        if ($category !== null) {
            $sizes[$category] = self::MAX_RANKS_OF_CATEGORY;
        }
        foreach (array_filter(explode(' ', $names)) as $name) {
            $sizes[$name] = ListKinds::isOther($name) ? self::MAX_RANKS_OF_KIND : self::MAX_RANKS_OF_CATEGORY;
        }
        $byWindow = [];
        foreach ($this->windows as $window) {
            $lists = &$this->lists[$window->value];
            $targets = [];
            foreach ($sizes as $name => $size) {
                $targets[] = $lists[$name] ??= new TopList(
                    $size,
                    $this->channelLimit,
                    $this->trialsOf === null ? null : ($this->trialsOf)($window, (string) $name),
                );
            }
            $byWindow[] = [$window, $targets];
        }

        return $this->targets[$category ?? ''][$names] = new ListTargets($byWindow);
    }

    /** @return array<string, int> as keys */
    private function unpublishedNames(): array
    {
        $videos = [];
        foreach ($this->targets as $ofCategory) {
            foreach ($ofCategory as $names => $targets) {
                foreach (array_filter(explode(' ', $names)) as $name) {
                    $videos[$name] = ($videos[$name] ?? 0) + $targets->videos;
                }
            }
        }

        return array_flip(array_diff(array_keys($videos), ListKinds::chosen($videos)));
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
    private array $pool = [];
    /** @var list<float> what they may turn out to be */
    private array $poolUppers = [];
    /** @var ?array{float, int, string} upper bound, the time that its age counts from and id of the last of them, when some were dropped */
    private ?array $poolEnd = null;

    /** @param ?Trials $trials null where each place is earned */
    public function __construct(
        public readonly int $size,
        private readonly ChannelLimit $channelLimit,
        public readonly ?Trials $trials = null,
    ) {}

    /** How many ranks it has at least. */
    public function length(): int
    {
        return min($this->size, count($this->candidates));
    }

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
        $end = $this->poolEnd;
        if (
            $end !== null &&
            ($upper <=> $end[0] ?:
            self::ageStartsAt($candidate) <=> $end[1] ?:
                strcmp($end[2], $candidate->videoId)) < 0
        ) {
            return false;
        }
        $this->pool[] = $candidate;
        $this->poolUppers[] = $upper;
        if (count($this->pool) >= 2 * self::TRIALS) {
            $this->sortPool();
            $last = $this->pool[self::TRIALS - 1];
            $this->poolEnd = [$this->poolUppers[self::TRIALS - 1], self::ageStartsAt($last), $last->videoId];
        }

        return true;
    }

    /** @return array<int, Candidate> by rank, at most `size`; the keys are the places without a limit by channel, exact below `size` */
    public function ranked(Window $window): array
    {
        $this->candidates = Candidate::sorted($this->candidates);
        $limited = $this->channelLimit->apply($this->candidates);
        $trials = $this->trials;
        if ($trials !== null) {
            $this->sortPool();
            $limited = $trials->placed(
                $window,
                $this->candidates,
                $limited,
                $this->pool,
                $this->channelLimit,
            );
        }

        return array_slice($limited, 0, $this->size, true);
    }

    private function sortPool(): void
    {
        [$uppers, $pool] = [$this->poolUppers, $this->pool];
        $ids = array_column($pool, 'videoId');
        $ages = array_map(self::ageStartsAt(...), $pool);
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
            $pool,
        );
        /** @var list<float> $uppers */
        $this->pool = array_slice($pool, 0, self::TRIALS);
        $this->poolUppers = array_slice($uppers, 0, self::TRIALS);
    }

    /** As the rates of those that nobody knows take it: RankedLists passes over what is as old as one without a place. */
    private static function ageStartsAt(Candidate $candidate): int
    {
        return ClickCounts::ageStartsAt($candidate->velocity->firstObservedAt, $candidate->publishedAt);
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

/** The lists that videos of one region, category and kinds may get into. */
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

/**
 * Which lists there are by kind: a language, an audience, what is live, a length. Their names are those of
 * contract/lists.ts: `#language:de`, and such as `#language:audience=kids`, which origins before schema 41 list
 * as a language, and refuse who asks for it.
 */
final readonly class ListKinds
{
    /** As many as the first ranks, in which channels are limited. */
    public const int LEAST_VIDEOS = ChannelLimit::WITHIN_RANKS;
    public const int MOST_LANGUAGES = 5;
    /** ISO 639-2: undetermined, of no language, of several, of one without a code. */
    private const array NO_LANGUAGE = ['und', 'zxx', 'mul', 'mis'];
    private const string KIDS = ' audience=kids';

    /**
     * SQL: of a row of videos v its language as a line says it, and the other kinds that it is of, for names().
     *
     * @param int $now UTC seconds
     */
    public static function sql(int $now): string
    {
        $kids = self::KIDS;

        // The lengths are those of the parameter videoDuration of YouTube's search.
        return <<<SQL
        ifnull(v.language, '') || iif(v.made_for_kids = 1, '$kids', '') || CASE
          WHEN v.live IN ('now', 'scheduled') AND v.live_until > $now THEN iif(v.live = 'now', ' live=now', '')
          WHEN v.duration_seconds BETWEEN 1 AND 239 THEN ' duration=short'
          WHEN v.duration_seconds > 1200 THEN ' duration=long' ELSE '' END AS kinds
        SQL;
    }

    /**
     * The names of the lists of a video.
     *
     * @param string $kinds as sql() gives them
     * @return list<string>
     */
    public static function names(string $kinds): array
    {
        $parts = explode(' ', $kinds);
        $parts[0] = self::language($parts[0]);

        return array_map(
            static fn(string $part): string => ObservationParser::LANGUAGE_LISTS . $part,
            array_values(array_filter($parts)),
        );
    }

    public static function areForKids(string $kinds): bool
    {
        return str_contains($kinds, self::KIDS);
    }

    /** Whether it is the name of a list by kind, but of no language. */
    public static function isOther(string $name): bool
    {
        return str_starts_with($name, ObservationParser::LANGUAGE_LISTS) && str_contains($name, '=');
    }

    /**
     * @param array<string, int> $videos how many a region has, by name of a list
     * @return list<string> those of which there are enough: all, but of languages those with the most
     */
    public static function chosen(array $videos): array
    {
        $enough = array_filter($videos, static fn(int $count): bool => $count >= self::LEAST_VIDEOS);
        ksort($enough, SORT_STRING);
        arsort($enough, SORT_NUMERIC); // stable
        $names = array_keys($enough);
        $languages = array_values(
            array_filter($names, static fn(string $name): bool => !self::isOther($name)),
        );

        return array_values(array_diff($names, array_slice($languages, self::MOST_LANGUAGES)));
    }

    /**
     * The primary subtag, in lower case: the range that takes the tag, however many subtags it has (RFC 4647, 3.3.1).
     * '' for what no registered language has (RFC 5646, 2.2.1: these have 2 or 3 letters).
     *
     * @param string $tag BCP 47
     */
    private static function language(string $tag): string
    {
        return preg_match('/^([a-z]{2,3})(?:-|$)/iD', $tag, $match) === 1 &&
            !in_array(strtolower($match[1]), self::NO_LANGUAGE, true)
            ? strtolower($match[1])
            : '';
    }
}
