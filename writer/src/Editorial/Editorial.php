<?php

declare(strict_types=1);

namespace TrendVault\Writer\Editorial;

use Closure;
use stdClass;
use TrendVault\Writer\Database\RemovalKind;
use TrendVault\Writer\Database\Removals;
use TrendVault\Writer\Observations\ObservationParser;
use TrendVault\Writer\Time\Rfc3339;
use TrendVault\Writer\WriterException;

/**
 * What editors decide: docs/editorial.schema.json, whose every member is checked here, too. Times are UTC seconds.
 *
 * @type Rule = array{kind: string, name: string, region: ?string, factor: float, until: int, reason: string, by: ?string, isPublic: bool}
 * @type Lift = array{video: string, field: string, until: ?int, reason: string, by: ?string}
 * @type Review = array{region: string, category: ?string, since: int, hours: int, enters: bool, until: ?int, reason: string, by: ?string}
 */
final readonly class Editorial
{
    public const int MOST_BYTES = 4 << 20;
    private const int MOST_ENTRIES = 10_000;
    private const int MOST_FAULTS = 20;
    private const array LISTS = ['removals', 'pins', 'rules', 'reviews', 'allowed', 'lifted'];
    public const array KINDS_OF_RULES = ['channel', 'word', 'tag', 'source'];
    private const int MOST_HOURS = 720;
    private const int MOST_PINS_OF_A_LIST = 3;
    private const int LAST_RANK = 50;
    private const string WINDOW = '/^(now|day|week)$/D';
    /** Of JSON: a text, with the colon after a member's name, or where an object begins or ends. */
    private const string TOKEN = '/\G[^"{}]*+("(?:[^"\\\\]++|\\\\.)*+"(\s*:)?|[{}])/s';
    private const string REGION = '/^[A-Z]{2}$/D';

    /**
     * @param list<array{RemovalKind, string, string, ?string}> $removals kind, name, reason, and by whom
     * @param list<Pin> $pins also those that are over
     * @param list<Rule> $rules also those that are over
     * @param list<Review> $reviews also those that are over
     * @param list<array{RemovalKind, string, string, ?string}> $allowed as removals
     * @param list<Lift> $lifted also what is over
     */
    private function __construct(
        public array $removals,
        public array $pins,
        public array $rules,
        public array $reviews,
        public array $allowed,
        public array $lifted,
    ) {}

    public static function none(): self
    {
        return new self([], [], [], [], [], []);
    }

    /**
     * @param string $text JSON
     * @param ?list<string> $regions that pins may have; null for any, of a file that was taken before
     * @param int $now UTC seconds: pins that are over are in nobody's way
     * @throws WriterException with a line for each mistake: where it is, and what was expected
     */
    public static function read(string $text, ?array $regions, int $now): self
    {
        $file = json_decode($text);
        $faults = match (true) {
            strlen($text) > self::MOST_BYTES => ['expected at most ' . self::MOST_BYTES . ' bytes'],
            !($file instanceof stdClass) => [
                'expected JSON: an object with "removals", "pins" and other lists',
            ],
            default => [...self::repeatedMembers($text), ...self::faults($file)],
        };
        if ($faults !== []) {
            throw self::bad($faults);
        }
        /** @var stdClass $file */
        /** @var array<string, list<stdClass>> $lists */
        $lists = (array) $file;
        $editorial = new self(
            array_map(self::removal(...), $lists['removals'] ?? []),
            array_map(Pin::of(...), $lists['pins'] ?? []),
            array_map(self::rule(...), $lists['rules'] ?? []),
            array_map(self::review(...), $lists['reviews'] ?? []),
            array_map(self::removal(...), $lists['allowed'] ?? []),
            array_map(self::lift(...), $lists['lifted'] ?? []),
        );
        $faults = $editorial->relationFaults($regions, $now);

        return $faults === [] ? $editorial : throw self::bad($faults);
    }

    /**
     * @param int $now UTC seconds
     * @return list<Pin>
     */
    public function pinsAt(int $now): array
    {
        return array_values(array_filter($this->pins, static fn(Pin $pin): bool => $pin->until > $now));
    }

    /**
     * @param int $now UTC seconds
     * @return array<string, array<string, ?int>> by "#" and video, and by field, in order: until when
     */
    public function liftedAt(int $now): array
    {
        $lifted = [];
        foreach ($this->lifted as ['video' => $video, 'field' => $field, 'until' => $until]) {
            if (($until ?? PHP_INT_MAX) > $now) {
                $lifted["#$video"][$field] = $until;
                ksort($lifted["#$video"]);
            }
        }

        return $lifted;
    }

    /**
     * @param int $now UTC seconds
     * @return list<Review>
     */
    public function reviewsAt(int $now): array
    {
        return array_values(
            array_filter(
                $this->reviews,
                static fn(array $review): bool => ($review['until'] ?? PHP_INT_MAX) > $now,
            ),
        );
    }

    /**
     * @param array<int, string> $sources names by id
     * @param array<string> $categories what sources call a category otherwise: its name, by that
     * @param int $now UTC seconds
     * @return ?Rules null where there are none
     */
    public function rulesAt(int $now, array $sources, array $categories = []): ?Rules
    {
        $rules = array_values(
            array_filter($this->rules, static fn(array $rule): bool => $rule['until'] > $now),
        );

        $reviews = $this->reviewsAt($now);

        return $rules === [] && $reviews === []
            ? null
            : new Rules($rules, $reviews, $this->allowed, $this->pinsAt($now), $sources, $categories);
    }

    /** @return Rule */
    private static function rule(stdClass $entry): array
    {
        /** @var array{channel?: string, word?: string, tag?: string, source?: string, region?: string, factor: float|int, until: string, reason: string, by?: string, public?: bool} $members */
        $members = (array) $entry;
        $kind =
            array_find(self::KINDS_OF_RULES, static fn(string $kind): bool => isset($members[$kind])) ?? '';

        return [
            'kind' => $kind,
            'name' => $members[$kind] ?? '',
            'region' => $members['region'] ?? null,
            'factor' => (float) $members['factor'],
            'until' => (int) Rfc3339::parse($members['until']),
            'reason' => $members['reason'],
            'by' => $members['by'] ?? null,
            'isPublic' => $members['public'] ?? false,
        ];
    }

    /** @return Review */
    private static function review(stdClass $entry): array
    {
        /** @var array{region: string, category?: ?string, since: string, hours: int, after: string, until?: string, reason: string, by?: string} $members */
        $members = (array) $entry;

        return [
            'region' => $members['region'],
            'category' => $members['category'] ?? null,
            'since' => (int) Rfc3339::parse($members['since']),
            'hours' => $members['hours'],
            'enters' => $members['after'] === 'enter',
            'until' => isset($members['until']) ? Rfc3339::parse($members['until']) : null,
            'reason' => $members['reason'],
            'by' => $members['by'] ?? null,
        ];
    }

    /** @return Lift */
    private static function lift(stdClass $entry): array
    {
        /** @var array{video: string, field: string, until?: string, reason: string, by?: string} $members */
        $members = (array) $entry;

        return [
            'video' => $members['video'],
            'field' => $members['field'],
            'until' => isset($members['until']) ? Rfc3339::parse($members['until']) : null,
            'reason' => $members['reason'],
            'by' => $members['by'] ?? null,
        ];
    }

    /** @return array{RemovalKind, string, string, ?string} */
    private static function removal(stdClass $entry): array
    {
        /** @var array{video?: string, channel?: string, reason?: string, by?: string} $members */
        $members = (array) $entry;

        return [
            isset($members['video']) ? RemovalKind::Video : RemovalKind::Channel,
            $members['video'] ?? ($members['channel'] ?? ''),
            $members['reason'] ?? '',
            $members['by'] ?? null,
        ];
    }

    /** @param non-empty-list<string> $faults a line each */
    private static function bad(array $faults): WriterException
    {
        $more = count($faults) - self::MOST_FAULTS;
        $said = array_slice($faults, 0, self::MOST_FAULTS);

        return WriterException::usage(implode("\n", $more > 0 ? [...$said, "and $more more"] : $said));
    }

    /** @return list<string> */
    private static function faults(stdClass $file): array
    {
        $isText = static fn(int $most): Closure => static fn(mixed $value): bool => is_string($value) &&
            mb_strlen($value) >= 1 &&
            mb_strlen($value) <= $most;
        $matches = static fn(string $pattern): Closure => static fn(mixed $value): bool => is_string(
            $value,
        ) && preg_match($pattern, $value) === 1;
        $video = [$matches(ObservationParser::ID), 'the id of a video'];
        $reason = [
            $isText(Removals::MAX_REASON_CHARACTERS),
            'why, in 1 to ' . Removals::MAX_REASON_CHARACTERS . ' characters',
        ];
        $by = [$isText(100), 'who decided it, in 1 to 100 characters'];
        $name = [
            static fn(mixed $value): bool => $isText(200)($value) &&
                preg_match(ObservationParser::FORBIDDEN, (string) $value) === 0,
            'a name of 1 to 200 characters, without control characters or such that change the direction of the text',
        ];
        $removal = ['video' => $video, 'channel' => $name, 'reason' => $reason, 'by' => $by];
        $sponsor = ['name' => $name, 'paid_by' => $name];
        $region = [$matches(self::REGION), 'the code of a region, like GB'];
        $category = [
            static fn(mixed $value): bool => $value === null ||
                ($isText(60)($value) && !str_starts_with((string) $value, '#')),
            'the name of a category, or null for the list over all',
        ];
        $time = [
            static fn(mixed $value): bool => is_string($value) && Rfc3339::parse($value) !== null,
            'a time like 2026-12-24T18:00:00Z',
        ];
        $words = [
            static fn(mixed $value): bool => $isText(100)($value) &&
                preg_match('/[\p{L}\p{N}]/u', (string) $value) === 1,
            'one or more words, in 1 to 100 characters with a letter or a digit',
        ];
        $rule = [
            'channel' => $name,
            'word' => $words,
            'tag' => $words,
            'source' => [$name[0], 'a source as in SOURCES, or its kind, in 1 to 200 characters'],
            'region' => $region,
            'factor' => [
                static fn(mixed $value): bool => (is_int($value) || is_float($value)) &&
                    $value >= 0 &&
                    $value < 1,
                'a number from 0, for never, to less than 1',
            ],
            'until' => $time,
            'reason' => $reason,
            'by' => $by,
            'public' => [is_bool(...), 'true where everybody may read the reason, or false'],
        ];
        $review = [
            'region' => $region,
            'category' => $category,
            'since' => $time,
            'hours' => [
                static fn(mixed $value): bool => is_int($value) && $value >= 1 && $value <= self::MOST_HOURS,
                'a whole number from 1 to ' . self::MOST_HOURS,
            ],
            'after' => [$matches('/^(enter|stay-out)$/D'), 'enter or stay-out'],
            'until' => $time,
            'reason' => $reason,
            'by' => $by,
        ];
        $pin = [
            'video' => $video,
            'region' => $region,
            'window' => [$matches(self::WINDOW), 'now, day or week'],
            'category' => $category,
            'rank' => [
                static fn(mixed $value): bool => is_int($value) && $value >= 1 && $value <= self::LAST_RANK,
                'a whole number from 1 to ' . self::LAST_RANK,
            ],
            'until' => $time,
            'reason' => $reason,
            'by' => $by,
            'placed_by' => [$matches('/^(editor|sponsor)$/D'), 'editor or sponsor'],
            'sponsor' => [
                static fn(mixed $value): bool => $value instanceof stdClass &&
                    self::memberFaults($value, '', $sponsor, array_keys($sponsor)) === [],
                'an object with "name" and "paid_by", of 1 to 200 characters each, as in a title',
            ],
        ];

        $lift = [
            'video' => $video,
            'field' => [
                static fn(mixed $value): bool => in_array($value, ObservationParser::RESTRICTING, true),
                'one of ' . implode(', ', ObservationParser::RESTRICTING),
            ],
            'until' => $time,
            'reason' => $reason,
            'by' => $by,
        ];

        return [
            ...self::unknownMembers($file, ['$schema', ...self::LISTS], ''),
            ...self::entryFaults($file, 'removals', $removal, ['reason']),
            ...self::entryFaults($file, 'pins', $pin, [
                'video',
                'region',
                'window',
                'rank',
                'until',
                'reason',
            ]),
            ...self::entryFaults($file, 'rules', $rule, ['factor', 'until', 'reason']),
            ...self::entryFaults($file, 'reviews', $review, ['region', 'since', 'hours', 'after', 'reason']),
            ...self::entryFaults($file, 'allowed', $removal, []),
            ...self::entryFaults($file, 'lifted', $lift, ['video', 'field', 'reason']),
        ];
    }

    /**
     * @param array<string, array{Closure(mixed): bool, string}> $members what each may be, and how that is called
     * @param list<string> $needed
     * @return list<string>
     */
    private static function entryFaults(stdClass $file, string $list, array $members, array $needed): array
    {
        $entries = array_key_exists($list, (array) $file) ? ((array) $file)[$list] : [];
        if (!is_array($entries) || count($entries) > self::MOST_ENTRIES) {
            return ["$list: expected a list of at most " . self::MOST_ENTRIES . ' objects'];
        }
        $faults = [];
        foreach ($entries as $index => $entry) {
            $faults[] =
                $entry instanceof stdClass
                    ? self::memberFaults($entry, "{$list}[$index].", $members, $needed)
                    : ["{$list}[$index]: expected an object"];
        }

        return array_values(array_merge(...$faults));
    }

    /**
     * @param array<string, array{Closure(mixed): bool, string}> $members
     * @param list<string> $needed
     * @return list<string>
     */
    private static function memberFaults(stdClass $entry, string $at, array $members, array $needed): array
    {
        $faults = self::unknownMembers($entry, array_keys($members), $at);
        $values = (array) $entry;
        foreach ($members as $name => [$isOne, $expected]) {
            if (array_key_exists($name, $values) ? !$isOne($values[$name]) : in_array($name, $needed, true)) {
                $faults[] = "$at$name: expected $expected";
            }
        }
        $isSponsored = ($entry->placed_by ?? '') === 'sponsor';
        if (isset($members['sponsor']) && $isSponsored !== isset($entry->sponsor)) {
            $faults[] = "{$at}sponsor: expected with \"placed_by\": \"sponsor\", and only then";
        }
        if (isset($members['word'])) {
            if (count(array_intersect_key($values, array_flip(self::KINDS_OF_RULES))) !== 1) {
                $faults[] = "{$at}word: expected one of \"channel\", \"word\", \"tag\" and \"source\"";
            }
        } elseif (isset($members['channel']) && isset($entry->video) === isset($entry->channel)) {
            $faults[] = "{$at}video: expected the id of a video, or \"channel\" with the name of one";
        }

        return $faults;
    }

    /**
     * @param list<string> $known
     * @return list<string>
     */
    private static function unknownMembers(stdClass $object, array $known, string $at): array
    {
        $unknown = array_diff(array_map(strval(...), array_keys((array) $object)), $known);

        return array_values(
            array_map(
                static fn(string $name): string => "$at$name: unknown, expected only " .
                    implode(', ', $known),
                $unknown,
            ),
        );
    }

    /**
     * JSON decoders keep the last one of two members with one name: what the first one says would be lost without a word.
     *
     * @return list<string>
     */
    private static function repeatedMembers(string $text): array
    {
        [$offset, $found] = [0, []];
        /** @var list<array<string, true>> $open */
        $open = [];
        /** @var list<string> $faults */
        $faults = [];
        // One after the other: all tokens of a large file do not fit into memory.
        while (preg_match(self::TOKEN, $text, $found, offset: $offset) === 1) {
            [$all, $token] = $found;
            $offset += strlen($all);
            if ($token === '{') {
                $open[] = [];
            } elseif ($token === '}') {
                array_pop($open);
            } elseif (isset($found[2])) {
                $name = json_encode(json_decode(rtrim($token, ": \t\r\n")), JSON_UNESCAPED_UNICODE);
                $depth = count($open) - 1;
                if (isset($open[$depth]["#$name"])) {
                    $faults[] = "$name: twice in one object, expected each member once";
                }
                $open[$depth]["#$name"] = true;
            }
        }

        return array_values(array_unique($faults));
    }

    /**
     * @param ?list<string> $regions
     * @return list<string>
     */
    private function relationFaults(?array $regions, int $now): array
    {
        [$faults, $lists, $removed] = [[], [], []];
        foreach ($this->removals as $index => [$kind, $name]) {
            $first = $removed["$kind->value $name"] ??= $index;
            if ($first !== $index) {
                $faults[] = "removals[$index]: removals[$first] says the same already";
            }
        }
        $lifted = [];
        foreach ($this->lifted as $index => ['video' => $video, 'field' => $field]) {
            $first = $lifted["$video $field"] ??= $index;
            if ($first !== $index) {
                $faults[] = "lifted[$index]: lifted[$first] says the same already";
            }
        }
        foreach (['rules' => $this->rules, 'reviews' => $this->reviews] as $list => $entries) {
            foreach ($entries as $index => ['region' => $region]) {
                if ($regions !== null && $region !== null && !in_array($region, $regions, true)) {
                    $faults[] = "{$list}[$index].region: expected one of " . implode(', ', $regions);
                }
            }
        }
        foreach (
            $regions === null ? [] : $this->reviews
            as $index => ['since' => $since, 'until' => $until]
        ) {
            if ($until !== null && $until <= $since) {
                $faults[] = "reviews[$index].until: expected a time after \"since\"";
            }
        }
        foreach ($this->pins as $index => $pin) {
            if ($regions !== null && !in_array($pin->region, $regions, true)) {
                $faults[] = "pins[$index].region: expected one of " . implode(', ', $regions);
            }
            if ($pin->until <= $now) {
                continue;
            }
            $list = $pin->listName();
            foreach ($lists[$list] ?? [] as $other => ['rank' => $rank, 'video' => $video]) {
                if ($rank === $pin->rank) {
                    $faults[] = "pins[$index].rank: pins[$other] has rank $rank of that list already";
                } elseif ($video === $pin->videoId) {
                    $faults[] = "pins[$index].video: pins[$other] has it in that list already";
                }
            }
            $lists[$list][$index] = ['rank' => $pin->rank, 'video' => $pin->videoId];
            if (count($lists[$list]) === self::MOST_PINS_OF_A_LIST + 1) {
                $faults[] = "pins[$index]: expected at most " . self::MOST_PINS_OF_A_LIST . ' in one list';
            }
        }

        return $faults;
    }
}

/** A video that is at a rank of a list whatever its score, until a time. */
final readonly class Pin
{
    /** @param ?array{name: string, paid_by: string} $sponsor who wanted it, and who paid; null for an editor's */
    private function __construct(
        public string $videoId,
        public string $region,
        public string $window,
        /** '' for the list over all categories. */
        public string $category,
        public int $rank,
        /** UTC seconds. */
        public int $until,
        public string $reason,
        public ?string $by,
        public ?array $sponsor,
    ) {}

    public static function of(stdClass $entry): self
    {
        /** @var array{video: string, region: string, window: string, category?: ?string, rank: int, until: string, reason: string, by?: string, sponsor?: stdClass} $members */
        $members = (array) $entry;
        /** @var ?array{name: string, paid_by: string} $sponsor */
        $sponsor = isset($members['sponsor']) ? (array) $members['sponsor'] : null;

        return new self(
            $members['video'],
            $members['region'],
            $members['window'],
            $members['category'] ?? '',
            $members['rank'],
            (int) Rfc3339::parse($members['until']),
            $members['reason'],
            $members['by'] ?? null,
            $sponsor,
        );
    }

    /** Of the list: region, window and name. */
    public function listName(): string
    {
        return "$this->region $this->window $this->category";
    }

    /**
     * What readers are told of it.
     *
     * @param ?int $modelRank that its score gives it; null where that is none
     * @return string JSON
     */
    public function label(?int $modelRank): string
    {
        $sponsor =
            $this->sponsor === null
                ? []
                : ['sponsor' => ['name' => $this->sponsor['name'], 'paid_by' => $this->sponsor['paid_by']]];

        return json_encode(
            [
                'placed_by' => $this->sponsor === null ? 'editor' : 'sponsor',
                ...$sponsor,
                'model_rank' => $modelRank,
            ],
            JSON_THROW_ON_ERROR | JSON_UNESCAPED_UNICODE | JSON_UNESCAPED_SLASHES,
        );
    }
}
