<?php

declare(strict_types=1);

namespace TrendVault\Writer\Editorial;

use Normalizer;
use TrendVault\Writer\Database\RemovalKind;

/**
 * What editors count less or keep out, and what waits for them: what of it is about a video.
 *
 * A word of a rule is in a title where the same letters stand there as whole words, without regard to case, accents,
 * punctuation and invisible characters (docs/editorial.md says it to operators).
 *
 * @import-type Rule from Editorial
 * @import-type Review from Editorial
 */
final class Rules
{
    /** What the scripts that put no spaces between words are written in. */
    private const string SPACELESS = '\p{Han}\p{Hiragana}\p{Katakana}\p{Thai}\p{Lao}\p{Khmer}\p{Myanmar}';
    private const string WORDS =
        '/[' .
        self::SPACELESS .
        '][' .
        self::SPACELESS .
        '\p{M}]*|(?:(?![' .
        self::SPACELESS .
        '])[\p{L}\p{M}\p{N}])+/u';
    private const string INVISIBLE = '/[\p{Cf}\x{640}\x{fe00}-\x{fe0f}]+/u';
    /** Elsewhere a mark makes another letter: vowels of Thai and of India's scripts, Japanese voicing, й. */
    private const string ACCENTS = '/(?<=[\p{Latin}\p{Greek}\p{Arabic}\p{Hebrew}])\p{Mn}+|(?<=\p{Cyrillic})[\x{300}\x{301}]+|(?<=е)\x{308}/u';
    /** Letters that Unicode does not decompose. */
    private const array PLAIN = [
        'ı' => 'i',
        'ø' => 'o',
        'ł' => 'l',
        'đ' => 'd',
        'ħ' => 'h',
        'ŧ' => 't',
        'ð' => 'd',
        'þ' => 'th',
        'æ' => 'ae',
        'œ' => 'oe',
    ];

    /** @var array<string, array<string, Ruling>> by kind, and by region ('' for all), "#" and name */
    private array $named = ['channel' => [], 'source' => [], 'word' => [], 'tag' => []];
    /**
     * What a title has to contain, by region ('' for all), "#" and its first word, which the title has, too; '' for a script
     * without spaces.
     *
     * @var array<string, array<string, Ruling>>
     */
    private array $phrases = [];
    /**
     * Of what came later than a time, the longest of the reviews that began before, by what happens then; the newest first.
     * By region, or region, "#" and category, and by the time when they end.
     *
     * @var array<string, array<int, list<array{since: int, enter: int, stayOut: int}>>>
     */
    private array $reviews = [];
    /** @var array<string, string> those that have a rule of their own; '' for the rules of all */
    private array $regions = ['' => ''];
    /** @var array<string, true> videos and channels that need not wait: kind, "#" and name */
    private array $allowed = [];
    /** @var array<string, ?Ruling> by region ('' for all), "#" and the id of a source */
    private array $bySource = [];
    /** @var array<string, Ruling|false> by region ('' for those without a rule of their own), "#" and video */
    private array $byTitles = [];

    /**
     * @param list<Rule> $rules that are in force
     * @param list<Review> $reviews
     * @param list<array{RemovalKind, string, ...}> $allowed
     * @param list<Pin> $pins what is pinned in a region does not wait there
     * @param array<int, string> $sources names by id
     * @param array<string> $categories what sources call a category otherwise: its name, by that
     */
    public function __construct(
        array $rules,
        array $reviews,
        array $allowed,
        array $pins,
        array $sources,
        private readonly array $categories = [],
    ) {
        foreach ($rules as $rule) {
            $this->addRule($rule);
        }
        foreach ($sources as $id => $name) {
            foreach ($this->regions as $region) {
                $this->bySource["$region#$id"] = $this->ofSource($name, $region);
            }
        }
        usort($reviews, static fn(array $one, array $other): int => $one['since'] <=> $other['since']);
        foreach ($reviews as $review) {
            $this->addReview($review);
        }
        foreach ($allowed as [$kind, $name]) {
            $this->allowed["$kind->value#$name"] = true;
        }
        foreach ($pins as $pin) {
            $this->allowed["$pin->region#$pin->videoId"] = true;
        }
    }

    /**
     * What else than its channel, category and times has to be read of a video, of the table v: SQL.
     *
     * @param string $knownSince SQL: the UTC second since which it has been known in the region
     */
    public function columns(string $knownSince): string
    {
        $titles = ', v.title, (SELECT titles FROM details WHERE video_id = v.id) AS titles';

        return ($this->named['word'] === [] && $this->phrases === [] ? '' : $titles) .
            ($this->named['tag'] === [] ? '' : ', (SELECT tags FROM details WHERE video_id = v.id) AS tags') .
            ($this->named['source'] === [] ? '' : ', v.described_by') .
            // A source may date its lines back.
            ($this->reviews === []
                ? ''
                : ", max(v.first_seen_at, $knownSince) AS known_since, v.category_since");
    }

    /**
     * The strictest of what is about a video.
     *
     * @param array{video_id: string, channel: string, category: ?string, title?: string, titles?: ?string, tags?: ?string, described_by?: ?int, category_since?: int, ...} $video
     * @param int $knownSince UTC seconds: when a count or a catalogue first named it in the region
     * @param int $now UTC seconds
     */
    public function of(array $video, string $region, int $knownSince, int $now): ?Ruling
    {
        $regions = isset($this->regions[$region]) ? ['', $region] : [''];
        $found = null;
        foreach ($regions as $of) {
            $found = Ruling::stricter($found, $this->named['channel']["$of#{$video['channel']}"] ?? null);
            if (isset($video['described_by'])) {
                $found = Ruling::stricter($found, $this->bySource["$of#{$video['described_by']}"] ?? null);
            }
        }
        /** @var list<string> $tags */
        $tags = isset($video['tags']) ? json_decode($video['tags'], true) : [];
        foreach ($tags as $tag) {
            $name = trim(self::comparable($tag));
            foreach ($regions as $of) {
                $found = Ruling::stricter($found, $this->named['tag']["$of#$name"] ?? null);
            }
        }
        if (isset($video['title'])) {
            // Of regions without a rule of their own, once for all: titles take the most time of a run.
            $key = "{$regions[count($regions) - 1]}#{$video['video_id']}";
            $this->byTitles[$key] ??= $this->ofTitles($video, $regions) ?? false;
            $found = Ruling::stricter($found, $this->byTitles[$key] ?: null);
        }

        return $found?->factor === 0.0
            ? $found
            : $this->waiting($video, $region, $knownSince, $now) ?? $found;
    }

    /**
     * Those that are about none of these, which may be a slip.
     *
     * @param array<Rule> $rules
     * @param iterable<array{channel: string, title: string, titles: ?string, tags: ?string, ...}> $videos
     * @param array<string> $sources names
     * @return array<Rule> with their keys
     */
    public static function idle(array $rules, iterable $videos, array $sources): array
    {
        [$idle, $sought] = [[], []];
        foreach ($rules as $key => $rule) {
            ['kind' => $kind, 'name' => $name] = $rule;
            $words = trim(self::comparable($name));
            if ($kind === 'channel') {
                $sought[$key] = [false, "\n#$name\n"];
            } elseif ($kind !== 'source' && $words !== '') {
                $sought[$key] = $kind === 'word' ? [true, self::phrase($words)] : [false, "\n$words\n"];
            } elseif (!array_any($sources, static fn(string $one): bool => self::isOfSource($name, $one))) {
                $idle[$key] = $rule;
            }
        }
        foreach ($videos as $video) {
            if ($sought === []) {
                break;
            }
            /** @var array<string, string> $translated */
            $translated = json_decode($video['titles'] ?? '[]', true);
            $titles = [$video['title'], ...array_values($translated)];
            /** @var list<string> $tags */
            $tags = json_decode($video['tags'] ?? '[]', true);
            $names = array_map(static fn(string $tag): string => trim(self::comparable($tag)), $tags);
            $title = implode("\n", array_map(self::comparable(...), $titles));
            $name = "\n#{$video['channel']}\n" . implode("\n", $names) . "\n";
            $sought = array_filter(
                $sought,
                static fn(array $one): bool => !str_contains($one[0] ? $title : $name, $one[1]),
            );
        }

        return $idle + array_intersect_key($rules, $sought);
    }

    /** A text with a space around each word, as words are compared. */
    public static function comparable(string $text): string
    {
        if (preg_match('/[^\x00-\x7f]/', $text) === 1) {
            $decomposed = Normalizer::normalize($text, Normalizer::FORM_KD);
            $folded = mb_convert_case((string) $decomposed, MB_CASE_FOLD, 'UTF-8');
            $visible = (string) preg_replace(self::INVISIBLE, '', $folded);
            $plain = strtr((string) preg_replace(self::ACCENTS, '', $visible), self::PLAIN);
            $text = (string) Normalizer::normalize($plain);
        } else {
            $text = strtolower($text);
        }
        preg_match_all(self::WORDS, $text, $words);

        return ' ' . implode(' ', $words[0]) . ' ';
    }

    /** @param Rule $rule */
    private function addRule(array $rule): void
    {
        $ruling = new Ruling($rule['factor'], $rule['isPublic'] ? $rule['reason'] : null);
        [$kind, $region] = [$rule['kind'], $rule['region'] ?? ''];
        $this->regions[$region] = $region;
        $key = "$region#{$rule['name']}";
        if ($kind === 'word') {
            $words = trim(self::comparable($rule['name']));
            $text = self::phrase($words);
            if ($text !== " $words " || str_contains($words, ' ')) {
                $first = str_starts_with($text, ' ') ? explode(' ', $words)[0] : '';
                $known = $this->phrases["$region#$first"][$text] ?? $ruling;
                $this->phrases["$region#$first"][$text] = $ruling->factor < $known->factor ? $ruling : $known;

                return;
            }
            $key = "$region#$words";
        }
        if ($kind === 'tag') {
            $key = "$region#" . trim(self::comparable($rule['name']));
        }
        if ($key === "$region#") {
            return; // nothing but characters that are not compared
        }
        $known = $this->named[$kind][$key] ?? $ruling;
        $this->named[$kind][$key] = $ruling->factor < $known->factor ? $ruling : $known;
    }

    /** What a comparable title has with these words in a row: whole ones, but in scripts without spaces. */
    private static function phrase(string $words): string
    {
        $edge = static fn(string $at): string => preg_match("/$at/u", $words) === 1 ? '' : ' ';

        return $edge('^[' . self::SPACELESS . ']') . $words . $edge('[' . self::SPACELESS . ']\p{M}*$');
    }

    /** @param Review $review that began after those that were added */
    private function addReview(array $review): void
    {
        $category = $review['category'];
        $of =
            $review['region'] . ($category === null ? '' : '#' . ($this->categories[$category] ?? $category));
        $until = $review['until'] ?? PHP_INT_MAX;
        $longest = $this->reviews[$of][$until][0] ?? ['since' => 0, 'enter' => 0, 'stayOut' => 0];
        $then = $review['enters'] ? 'enter' : 'stayOut';
        if ($review['hours'] > $longest[$then]) {
            $longest['since'] = $review['since'];
            $longest[$then] = $review['hours'];
            $this->reviews[$of][$until] = [$longest, ...$this->reviews[$of][$until] ?? []];
        }
    }

    private function ofSource(string $name, string $region): ?Ruling
    {
        $found = null;
        foreach ($this->named['source'] as $key => $ruling) {
            [$of, $rule] = explode('#', $key, 2);
            if ($of === $region && self::isOfSource($rule, $name)) {
                $found = Ruling::stricter($found, $ruling);
            }
        }

        return $found;
    }

    /** A rule may name all sources of a kind or host: peertube, peertube:tube.example, peertube:https://tube.example. */
    private static function isOfSource(string $rule, string $name): bool
    {
        // Of a file's address only the host is stored.
        $place = static fn(string $of): string => (string) preg_replace(
            ['/^(\w+:)https?:\/\//', '/^(http:[^:\/#]+):\d+$/D'],
            '$1',
            $of,
        );
        $named = preg_quote($place($rule), '/');

        return preg_match("/^$named(?:[:\/#]|$)/D", $place($name)) === 1;
    }

    /**
     * @param array{title?: string, titles?: ?string, ...} $video
     * @param list<string> $regions
     */
    private function ofTitles(array $video, array $regions): ?Ruling
    {
        /** @var array<string, string> $titles which readers of other regions see */
        $titles = json_decode($video['titles'] ?? '[]', true);
        $found = null;
        foreach (array_unique([$video['title'] ?? '', ...array_values($titles)]) as $title) {
            $found = Ruling::stricter($found, $this->ofTitle($title, $regions));
        }

        return $found;
    }

    /** @param list<string> $regions */
    private function ofTitle(string $title, array $regions): ?Ruling
    {
        $text = self::comparable($title);
        $found = null;
        foreach (array_unique(explode(' ', $text)) as $word) {
            foreach ($regions as $of) {
                $found = Ruling::stricter($found, $this->named['word']["$of#$word"] ?? null);
                foreach ($this->phrases["$of#$word"] ?? [] as $phrase => $ruling) {
                    if (str_contains($text, $phrase)) {
                        $found = Ruling::stricter($found, $ruling);
                    }
                }
            }
        }

        return $found;
    }

    /** @param array{video_id: string, channel: string, category: ?string, category_since?: int, ...} $video */
    private function waiting(array $video, string $region, int $knownSince, int $now): ?Ruling
    {
        [$waitsUntil, $staysOutUntil] = [0, 0];
        // Until its next line, a video may have a name that was joined since.
        $category = $this->categories[$video['category'] ?? ''] ?? $video['category'];
        $cameAt = [
            $region => $knownSince,
            "$region#$category" => max($knownSince, $video['category_since'] ?? 0),
        ];
        foreach ($cameAt as $of => $since) {
            foreach ($this->reviews[$of] ?? [] as $until => $reviews) {
                $longest = array_find($reviews, static fn(array $one): bool => $one['since'] < $since);
                if ($longest === null) {
                    continue;
                }
                $end = $since + 3600 * $longest['enter'];
                $waitsUntil = max($waitsUntil, $longest['enter'] > 0 && $end > $now ? min($end, $until) : 0);
                if ($longest['stayOut'] > 0) {
                    $waitsUntil = max($waitsUntil, min($since + 3600 * $longest['stayOut'], $until));
                    $staysOutUntil = max($staysOutUntil, $until);
                }
            }
        }
        $isAllowed =
            isset($this->allowed["video#{$video['video_id']}"]) ||
            isset($this->allowed["channel#{$video['channel']}"]) ||
            isset($this->allowed["$region#{$video['video_id']}"]);

        return $waitsUntil === 0 || $isAllowed
            ? null
            : new Ruling(0.0, null, $waitsUntil, $staysOutUntil <= $waitsUntil);
    }
}

/** What editors decided of a video's score: a factor, 0 for one that is in no list. */
final readonly class Ruling
{
    /**
     * @param ?string $reason for everybody; null where it is the editors' own
     * @param ?int $waitsUntil UTC seconds: how long it waits for an editor; null where a rule decided
     * @param bool $enters whether it is in the lists from then on
     */
    public function __construct(
        public float $factor,
        public ?string $reason,
        private ?int $waitsUntil = null,
        private bool $enters = false,
    ) {}

    public static function stricter(?self $one, ?self $other): ?self
    {
        return $one === null || ($other !== null && $other->factor < $one->factor) ? $other : $one;
    }

    /** @return array<string, mixed> as explanations store it */
    public function facts(): array
    {
        $review =
            $this->waitsUntil === null
                ? []
                : ['review_until' => $this->waitsUntil, 'enters' => $this->enters];

        return ['factor' => $this->factor, 'reason' => $this->reason, ...$review];
    }
}
