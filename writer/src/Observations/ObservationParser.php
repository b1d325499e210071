<?php

declare(strict_types=1);

namespace TrendVault\Writer\Observations;

use TrendVault\Writer\Database\RemovalKind;
use TrendVault\Writer\Time\Rfc3339;
use TrendVault\Writer\Time\SystemClock;

/** Parses a line of NDJSON. Every rule about what may be stored is here, or a CHECK in db/migrations. */
final readonly class ObservationParser
{
    private const int MAX_NESTING = 16;
    /** A bad value of one of these rejects no line: it holds the video back. */
    public const array RESTRICTING = [
        'mature',
        'made_for_kids',
        'available_from',
        'available_until',
        'countries',
    ];
    /** Nor does one of these: it is as if it were not there. */
    public const array LIVE = ['live', 'live_until'];
    /** @var list<string> of these each source has its own say, see Restrictions */
    public const array SAID = [...self::RESTRICTING, ...self::LIVE];
    /** Nor does one of these, columns of details. */
    public const array DETAILS = ['tags' => null, 'licence' => null, 'titles' => null, 'pictures' => null];
    /** @var list<string> what a line may take back */
    private const array OPTIONAL = [
        'category',
        'language',
        'published_at',
        'duration_seconds',
        'url',
        'tags',
        'licence',
        'titles',
        'pictures',
        ...self::SAID,
    ];
    private const int MOST_COUNTRIES = 300;
    private const int MOST_TAGS = 30;
    private const int MOST_TITLES = 100;
    /** So many are kept: each is compared with the words of rules at every run. */
    private const int MOST_KEPT_TITLES = 16;
    public const int MOST_PICTURES = 8;
    /** In place of a column of details, with null: some of these are not kept. */
    private const string MORE_TITLES = 'titles beyond ' . self::MOST_KEPT_TITLES;
    private const string MORE_PICTURES = 'pictures beyond ' . self::MOST_PICTURES;
    /** Of a picture, either way. */
    private const int MOST_PIXELS = 10_000;
    /** Of a tag, and of a licence. */
    private const int MOST_CHARACTERS = 100;
    private const int MOST_TITLE_CHARACTERS = 300;
    /** The lists by kind are called like this, so that no category may be. */
    public const string LANGUAGE_LISTS = '#language:';
    private const int MAX_CHANNEL_CHARACTERS = 200;
    /** Characters that need no escaping in a path (RFC 3986, section 3.3), and no `. ~ :` in front; openapi.json has the same. */
    public const string ID = '/^[A-Za-z0-9_-][A-Za-z0-9_.~:-]{0,63}$/D';

    /** Such that an erased name is found in what is stored. */
    public const int AS_READ = JSON_UNESCAPED_SLASHES | JSON_UNESCAPED_UNICODE | JSON_THROW_ON_ERROR;
    /** The largest integer that all JSON readers read exactly (RFC 8259, section 6). */
    private const int MAX_COUNT = 9_007_199_254_740_991;
    /** The bytes that may begin a character of FORBIDDEN: text without them needs no pattern. */
    private const string SUSPECT = "\xc2\xe2\x00\x01\x02\x03\x04\x05\x06\x07\x08\t\n\x0b\x0c\r\x0e\x0f\x10\x11\x12\x13\x14\x15\x16\x17\x18\x19\x1a\x1b\x1c\x1d\x1e\x1f\x7f";
    private const string LANGUAGE = '/^[A-Za-z]{2,8}(?:-[A-Za-z0-9]{1,8})*$/D';
    /** Controls (C0, DEL, C1), line and paragraph separators, and what changes the direction of the text around it. */
    public const string FORBIDDEN = '/[\x00-\x1f\x7f-\x{9f}\x{2028}-\x{202e}\x{2066}-\x{2069}]/u';
    /** Text that begins with one of `!` to `~` needs no such pattern. Any character but spaces, and those that are drawn as nothing (some letters and the empty braille pattern, too). */
    private const string VISIBLE = '/[^\p{Z}\p{C}\p{M}\x{115f}\x{1160}\x{2800}\x{3164}\x{ffa0}]/u';
    private const string HOST = '(?:\[[0-9A-Fa-f:.]+\]|[^\x00-\x20"<>\\\\^`{|}\x7f/?#@:[\]]+)';
    private const string PORT = '(?::(?:0*(?:[0-5]?\d{1,4}|6[0-4]\d{3}|65[0-4]\d{2}|655[0-2]\d|6553[0-5]))?)?';
    /** Without a user, a query or a fragment, because `/hq.webp` is added to it. */
    private const string THUMB_BASE =
        '~^https?://' . self::HOST . self::PORT . '(?:/[^\x00-\x20"<>\\\\^`{|}\x7f?#]*)?$~D';
    /** Of a page: with a path, a query and a fragment, without a user. */
    private const string URL =
        '~^https://' . self::HOST . self::PORT . '(?:[/?#][^\x00-\x20"<>\\\\^`{|}\x7f]*)?$~D';

    /**
     * @param array<string, bool> $regions the known regions; true for those of this writer
     * @param int $now UTC seconds
     * @param int $shiftSeconds what every time is moved by, for archived data
     * @param array<string> $categories see RegionTable
     * @param list<string> $languages of the regions: titles in these are kept first; BCP 47
     */
    public function __construct(
        private array $regions,
        private int $now,
        private int $shiftSeconds = 0,
        private array $categories = [],
        private array $languages = [],
    ) {}

    /**
     * A view count; or what a video is and where it may be listed, without views; or a removal, or its end. True for
     * `{"complete": true}`: what the file or answer did not name has left the catalogue. Null for a view count of a region
     * of another writer, which reads the line in turn.
     *
     * @throws RejectedLine
     */
    public function parse(string $line): Observation|Announcement|Removal|true|null
    {
        $fields = $this->decode($line);
        $isCounted = isset($fields['views']);

        return match (true) {
            ($fields['removed'] ?? null) === true => self::removal($fields),
            isset($fields['regions']) && !$isCounted => $this->announcement($fields),
            $isCounted => $this->observation($fields),
            ($fields['removed'] ?? null) === false => self::removal($fields),
            ($fields['complete'] ?? null) === true && !isset($fields['id']) => true,
            default => $this->observation($fields),
        };
    }

    /**
     * @param array<mixed> $fields
     * @throws RejectedLine
     */
    private function observation(array $fields): ?Observation
    {
        $id = $this->id($fields);
        $region = $this->region($fields);
        if (!$this->regions[$region]) {
            return null;
        }

        return new Observation(
            videoId: $id,
            region: $region,
            observedAt: $this->observedAt($fields),
            views: $this->count($fields, 'views') ?? throw self::missing('views', 'the cumulative views'),
            likes: $this->count($fields, 'likes'),
            comments: $this->count($fields, 'comments'),
            title: $this->text($fields, 'title', self::MOST_TITLE_CHARACTERS),
            channel: $this->text($fields, 'channel', 200),
            thumbBase: $this->thumbBase($fields),
            category: $this->category($fields),
            language: $this->language($fields),
            publishedAt: $this->time($fields, 'published_at'),
            durationSeconds: $this->count($fields, 'duration_seconds'),
            url: $this->url($fields),
            unset: isset($fields['unset']) ? self::unset($fields) : [],
            restrictions: $this->restrictions($fields),
            details: $this->details($fields),
        );
    }

    /**
     * @param array<mixed> $fields
     * @throws RejectedLine
     */
    private function announcement(array $fields): Announcement
    {
        $details = $this->details($fields);

        return new Announcement(
            videoId: $this->id($fields),
            regions: $this->regions($fields['regions']),
            description: [
                'title' => $this->text($fields, 'title', self::MOST_TITLE_CHARACTERS),
                'channel' => $this->text($fields, 'channel', 200),
                'thumb_base' => $this->thumbBase($fields),
                'category' => $this->category($fields),
                'language' => $this->language($fields),
                'published_at' => $this->time($fields, 'published_at'),
                'duration_seconds' => $this->count($fields, 'duration_seconds'),
                'url' => $this->url($fields),
                ...self::DETAILS,
                ...array_intersect_key($details, self::DETAILS),
            ],
            unset: isset($fields['unset']) ? self::unset($fields) : [],
            restrictions: $this->restrictions($fields),
            details: $details,
        );
    }

    /**
     * @param array<mixed> $fields
     * @return array<string, mixed> see Restrictions::say()
     */
    private function restrictions(array $fields): array
    {
        $restrictions = [];
        foreach (self::SAID as $name) {
            $value = $fields[$name] ?? '';
            if ($value !== '') {
                $restrictions[$name] = match ($name) {
                    'mature', 'made_for_kids' => is_bool($value) ? $value : null,
                    'live' => in_array($value, [false, 'scheduled', 'now', 'recorded'], true) ? $value : null,
                    'countries' => self::countries($value),
                    default => $this->boundary($name, $value),
                };
            }
        }

        return $restrictions;
    }

    /** @return array{allowed: list<string>}|array{excluded: list<string>}|null|false as Restrictions::say() takes it */
    private static function countries(mixed $value): array|null|false
    {
        $given = is_array($value)
            ? array_filter($value, static fn(mixed $codes): bool => $codes !== null)
            : [];
        [$kind, $codes] = count($given) === 1 ? [array_key_first($given), reset($given)] : [null, null];
        if (
            !in_array($kind, ['allowed', 'excluded'], true) ||
            !is_array($codes) ||
            !array_is_list($codes) ||
            count($codes) > self::MOST_COUNTRIES
        ) {
            return null;
        }
        $countries = [];
        foreach ($codes as $code) {
            if (!is_string($code) || preg_match('/^[A-Z]{2}$/D', $code) !== 1) {
                return null;
            }
            $countries[$code] = $code;
        }
        $countries = array_values($countries);

        return match (true) {
            $kind === 'allowed' => ['allowed' => $countries],
            $countries === [] => false,
            default => ['excluded' => $countries],
        };
    }

    /**
     * @param array<mixed> $fields
     * @return array<string, ?string> by column of details; null for a bad value, and with MORE_TITLES and MORE_PICTURES
     */
    private function details(array $fields): array
    {
        /** @var array<string, ?string> $details */
        $details = [];
        /** @var string $name */
        foreach (array_intersect_key($fields, self::DETAILS) as $name => $value) {
            $column = match (true) {
                $value === null, $value === '' => '',
                $value === [] && $name !== 'licence' => '',
                $name === 'tags' => self::tags($value),
                $name === 'titles' => $this->titles($value),
                $name === 'pictures' => self::pictures($value),
                default => self::isText($value, self::MOST_CHARACTERS) ? $value : null,
            };
            if ($column !== '') {
                $details[$name] = $column;
            }
        }
        $titles = isset($details['titles']) ? $fields['titles'] ?? [] : [];
        if (is_array($titles) && count(array_filter($titles, is_string(...))) > self::MOST_KEPT_TITLES) {
            $details[self::MORE_TITLES] = null;
        }
        $pictures = isset($details['pictures']) ? $fields['pictures'] ?? [] : [];
        if (is_array($pictures) && count($pictures) > self::MOST_PICTURES) {
            $details[self::MORE_PICTURES] = null;
        }

        return $details;
    }

    private static function tags(mixed $value): ?string
    {
        return is_array($value) &&
            array_is_list($value) &&
            count($value) <= self::MOST_TAGS &&
            array_all($value, static fn(mixed $tag): bool => self::isText($tag, self::MOST_CHARACTERS))
            ? (string) json_encode(array_values(array_unique($value)), self::AS_READ)
            : null;
    }

    /** @return ?string '' for none */
    private function titles(mixed $value): ?string
    {
        if (!is_array($value) || count($value) > self::MOST_TITLES) {
            return null;
        }
        $titles = array_filter($value, static fn(mixed $title): bool => $title !== null);
        $isRight =
            array_all(array_keys($value), self::isLanguage(...)) &&
            array_all(
                $titles,
                static fn(mixed $title): bool => self::isText($title, self::MOST_TITLE_CHARACTERS),
            );
        if (!$isRight) {
            return null;
        }
        if (count($titles) > self::MOST_KEPT_TITLES) {
            $primary = static fn(string $tag): string => strtolower(explode('-', $tag, 2)[0]);
            $spoken = array_flip(array_map($primary, $this->languages));
            $isSpoken = static fn(mixed $_, int|string $tag): bool => isset($spoken[$primary((string) $tag)]);
            $titles = array_filter($titles, $isSpoken, ARRAY_FILTER_USE_BOTH) + $titles;
            $titles = array_slice($titles, 0, self::MOST_KEPT_TITLES);
        }

        return $titles === [] ? '' : (string) json_encode($titles, self::AS_READ);
    }

    private static function pictures(mixed $value): ?string
    {
        if (!is_array($value) || !array_is_list($value)) {
            return null;
        }
        $pictures = [];
        foreach (array_slice($value, 0, self::MOST_PICTURES) as $picture) {
            if (!self::isPicture($picture)) {
                return null;
            }
            $pictures[] = [
                'url' => $picture['url'],
                'width' => $picture['width'],
                'height' => $picture['height'],
            ];
        }

        return (string) json_encode($pictures, self::AS_READ);
    }

    /** @phpstan-assert-if-true array{url: string, width: int, height: int, ...} $picture */
    public static function isPicture(mixed $picture): bool
    {
        return is_array($picture) &&
            self::isThumb($picture['url'] ?? null) &&
            array_all(
                [$picture['width'] ?? null, $picture['height'] ?? null],
                static fn(mixed $pixels): bool => is_int($pixels) &&
                    $pixels >= 1 &&
                    $pixels <= self::MOST_PIXELS,
            );
    }

    /** Whole seconds, such that a fraction neither lets a video appear early nor stay long. */
    private function boundary(string $name, mixed $value): ?int
    {
        try {
            $time = $this->time([$name => $value], $name);
        } catch (RejectedLine) {
            return null;
        }
        $isRoundedUp = $name === 'available_from' && preg_match('/\.\d*[1-9]/', (string) $value) === 1;

        return $time === null ? null : $time + (int) $isRoundedUp;
    }

    /**
     * @param array<mixed> $fields
     * @return list<string> the fields that the line takes back
     * @throws RejectedLine
     */
    private static function unset(array $fields): array
    {
        $names = $fields['unset'];
        if (
            !is_array($names) ||
            !array_is_list($names) ||
            !array_all($names, static fn(mixed $name): bool => in_array($name, self::OPTIONAL, true))
        ) {
            throw new RejectedLine(
                RejectionReason::BadUnset,
                'unset: expected a list of ' . implode(', ', self::OPTIONAL),
            );
        }

        return array_values(array_intersect(self::OPTIONAL, $names));
    }

    /**
     * A reason that is missing or no text does not keep a video up.
     *
     * @param array<mixed> $fields
     * @throws RejectedLine when it does not say what is removed
     */
    private static function removal(array $fields): Removal
    {
        $reason = is_string($fields['reason'] ?? null)
            ? trim((string) preg_replace('/\p{C}+/u', ' ', $fields['reason']))
            : '';
        if (isset($fields['id'])) {
            return is_string($fields['id']) && preg_match(self::ID, $fields['id']) === 1
                ? new Removal(RemovalKind::Video, $fields['id'], $reason, $fields['removed'] === false)
                : throw new RejectedLine(RejectionReason::BadId, 'id: expected the id of the removed video');
        }
        $channel = $fields['channel'] ?? null;

        return is_string($channel) && $channel !== '' && mb_strlen($channel) <= self::MAX_CHANNEL_CHARACTERS
            ? new Removal(RemovalKind::Channel, $channel, $reason, $fields['removed'] === false)
            : throw new RejectedLine(
                RejectionReason::MissingField,
                'id: expected the removed video, or the removed channel in channel; both are missing',
            );
    }

    /**
     * @return array<mixed>
     * @throws RejectedLine
     */
    private function decode(string $line): array
    {
        $fields = json_decode($line, true, self::MAX_NESTING);
        if (is_array($fields) && ltrim($line)[0] === '{') {
            return $fields;
        }

        throw match (json_last_error()) {
            JSON_ERROR_NONE => new RejectedLine(
                RejectionReason::NotAnObject,
                'expected one JSON object on the line',
            ),
            JSON_ERROR_UTF8 => new RejectedLine(RejectionReason::NotUtf8, 'expected UTF-8'),
            default => new RejectedLine(
                RejectionReason::NotJson,
                'expected JSON: ' . strtolower(json_last_error_msg()),
            ),
        };
    }

    /** @param array<mixed> $fields */
    private function id(array $fields): string
    {
        $id = $fields['id'] ?? throw self::missing('id', 'the video');

        return is_string($id) && preg_match(self::ID, $id) === 1
            ? $id
            : throw new RejectedLine(
                RejectionReason::BadId,
                'id: expected 1 to 64 letters, digits or _ - . ~ : without one of . ~ : in front',
            );
    }

    /** @param array<mixed> $fields */
    private function region(array $fields): string
    {
        $region = $fields['region'] ?? throw self::missing('region', 'the region');

        return is_string($region) && isset($this->regions[$region])
            ? $region
            : throw new RejectedLine(
                RejectionReason::UnknownRegion,
                'region: expected one of ' . implode(', ', array_keys($this->regions)),
            );
    }

    /**
     * @return list<string>
     * @throws RejectedLine
     */
    private function regions(mixed $regions): array
    {
        $codes = is_array($regions) && array_is_list($regions) ? array_filter($regions, is_string(...)) : [];

        return $codes !== [] &&
            $codes === $regions &&
            array_all($codes, fn(string $region): bool => isset($this->regions[$region]))
            ? array_values(
                array_filter(array_unique($codes), fn(string $region): bool => $this->regions[$region]),
            )
            : throw new RejectedLine(
                RejectionReason::UnknownRegion,
                'regions: expected a list of one or more of ' . implode(', ', array_keys($this->regions)),
            );
    }

    /** @param array<mixed> $fields */
    private function category(array $fields): ?string
    {
        if (($fields['category'] ?? '') === '') {
            return null;
        }
        // Databases fill columns up with spaces: two lists would look like one.
        $category = trim((string) $this->text($fields, 'category', 60));

        return str_starts_with($category, self::LANGUAGE_LISTS)
            ? throw new RejectedLine(
                RejectionReason::BadText,
                'category: expected a name that does not begin with ' . self::LANGUAGE_LISTS,
            )
            : $this->categories[$category] ?? $category;
    }

    /** @param array<mixed> $fields */
    private function observedAt(array $fields): int
    {
        $observedAt =
            $this->time($fields, 'observed_at') ?? throw self::missing('observed_at', 'the time of counting');

        return $observedAt <= $this->now + SystemClock::TOLERANCE_SECONDS
            ? $observedAt
            : throw new RejectedLine(
                RejectionReason::InTheFuture,
                'observed_at: expected at most 5 minutes after now, ' . Rfc3339::format($this->now),
            );
    }

    private static function missing(string $field, string $meaning): RejectedLine
    {
        return new RejectedLine(RejectionReason::MissingField, "$field: expected $meaning, it is missing");
    }

    /**
     * As all that follow: null when the line does not have the field.
     *
     * @param array<mixed> $fields
     * @throws RejectedLine
     */
    private function time(array $fields, string $name): ?int
    {
        $value = $fields[$name] ?? '';
        if ($value === '') {
            return null;
        }
        $time = is_string($value) ? Rfc3339::parse($value) : null;

        return $time === null || $time < 0
            ? throw new RejectedLine(
                RejectionReason::BadTime,
                "$name: expected an RFC 3339 time since 1970, for example 2026-11-20T10:00:00Z",
            )
            : $time + $this->shiftSeconds;
    }

    /**
     * @param array<mixed> $fields
     * @throws RejectedLine
     */
    private function count(array $fields, string $name): ?int
    {
        $value = $fields[$name] ?? '';

        return match (true) {
            is_int($value) && $value >= 0 && $value <= self::MAX_COUNT => $value,
            $value === '' => null,
            default => throw new RejectedLine(
                RejectionReason::BadCount,
                "$name: expected a whole number from 0 to " . self::MAX_COUNT,
            ),
        };
    }

    /**
     * @param array<mixed> $fields
     * @throws RejectedLine
     */
    private function text(array $fields, string $name, int $most): ?string
    {
        $value = $fields[$name] ?? null;

        return $value === null || self::isText($value, $most)
            ? $value
            : throw new RejectedLine(
                RejectionReason::BadText,
                "$name: expected text of 1 to $most characters, not only spaces, without control characters or such that change the direction of the text",
            );
    }

    /**
     * @param array<mixed> $fields
     * @throws RejectedLine
     */
    private function language(array $fields): ?string
    {
        $value = $fields['language'] ?? '';
        if ($value === '') {
            return null;
        }

        return self::isLanguage($value)
            ? $value
            : throw new RejectedLine(
                RejectionReason::BadLanguage,
                'language: expected a language tag (BCP 47), for example pt-BR',
            );
    }

    /**
     * @param array<mixed> $fields
     * @throws RejectedLine
     */
    private function thumbBase(array $fields): ?string
    {
        $value = $fields['thumb_base'] ?? null;

        return $value === null || self::isThumb($value)
            ? $value
            : throw new RejectedLine(
                RejectionReason::BadThumbBase,
                'thumb_base: expected an http or https address of at most 500 characters without a query, a fragment or a user',
            );
    }

    /** @phpstan-assert-if-true string $value */
    private static function isThumb(mixed $value): bool
    {
        return is_string($value) &&
            self::fits($value, 500) &&
            preg_match(self::THUMB_BASE, $value) === 1 &&
            (mb_check_encoding($value, 'ASCII') || preg_match(self::FORBIDDEN, $value) === 0);
    }

    /**
     * @param array<mixed> $fields
     * @throws RejectedLine
     */
    private function url(array $fields): ?string
    {
        $value = $fields['url'] ?? '';
        if ($value === '') {
            return null;
        }

        return is_string($value) &&
            self::fits($value, 2000) &&
            preg_match(self::URL, $value) === 1 &&
            preg_match(self::FORBIDDEN, $value) === 0
            ? $value
            : throw new RejectedLine(
                RejectionReason::BadUrl,
                'url: expected an https address of at most 2000 characters without a user',
            );
    }

    /** @phpstan-assert-if-true string $value */
    public static function isText(mixed $value, int $most): bool
    {
        return is_string($value) &&
            self::fits($value, $most) &&
            (strcspn($value, self::SUSPECT) === strlen($value) ||
                preg_match(self::FORBIDDEN, $value) === 0) &&
            (($value >= '!' && $value < "\x7f") || preg_match(self::VISIBLE, $value) === 1);
    }

    /** @phpstan-assert-if-true string $value */
    public static function isLanguage(mixed $value): bool
    {
        return is_string($value) && strlen($value) <= 35 && preg_match(self::LANGUAGE, $value) === 1;
    }

    /** Counts characters only when the number of bytes does not answer already. */
    private static function fits(string $text, int $mostCharacters): bool
    {
        return strlen($text) <= $mostCharacters || mb_strlen($text) <= $mostCharacters;
    }
}

/**
 * A video's view count in one region at one time. Times are UTC seconds, counts are cumulative.
 * Null means that the line did not have the field.
 */
final readonly class Observation
{
    public function __construct(
        public string $videoId,
        public string $region,
        public int $observedAt,
        public int $views,
        public ?int $likes = null,
        public ?int $comments = null,
        public ?string $title = null,
        public ?string $channel = null,
        public ?string $thumbBase = null,
        public ?string $category = null,
        public ?string $language = null,
        public ?int $publishedAt = null,
        public ?int $durationSeconds = null,
        public ?string $url = null,
        /** @var list<string> names of fields that are taken back */
        public array $unset = [],
        /** @var array<string, mixed> see Restrictions::say() */
        public array $restrictions = [],
        /** @var array<string, ?string> by column of details; null for a bad value */
        public array $details = [],
    ) {}

    /** Whether it has every field that a new video needs. */
    public function describesVideo(): bool
    {
        return $this->title !== null && $this->channel !== null && $this->thumbBase !== null;
    }

    /** @return array<string, string|int|null> the fields that describe the video, as columns of videos and details */
    public function description(): array
    {
        return [
            'title' => $this->title,
            'channel' => $this->channel,
            'thumb_base' => $this->thumbBase,
            'category' => $this->category,
            'language' => $this->language,
            'published_at' => $this->publishedAt,
            'duration_seconds' => $this->durationSeconds,
            'url' => $this->url,
            ...ObservationParser::DETAILS,
            ...array_intersect_key($this->details, ObservationParser::DETAILS),
        ];
    }

    /** A 64-bit hash of who describes the video, and how. */
    public function descriptionHash(int $source): int
    {
        $description = "$source\n$this->title\n$this->channel\n$this->thumbBase\n$this->category\n$this->language\n$this->publishedAt\n$this->durationSeconds\n$this->url";
        if ($this->unset !== []) {
            $description .= "\n" . implode(',', $this->unset);
        }
        foreach ([$this->restrictions, $this->details] as $more) {
            if ($more !== []) {
                $description .= "\n" . json_encode($more, JSON_THROW_ON_ERROR);
            }
        }

        return unpack('q', hash('xxh3', $description, true))[1];
    }
}
