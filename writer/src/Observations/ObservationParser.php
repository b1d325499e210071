<?php

declare(strict_types=1);

namespace TrendVault\Writer\Observations;

use TrendVault\Writer\Time\Rfc3339;

/** Parses a line of NDJSON. Every rule about what may be stored is here, or a CHECK in db/migrations. */
final readonly class ObservationParser
{
    /** How far a producer's clock may be ahead of ours. */
    private const int FUTURE_SECONDS = 300;
    private const int MAX_NESTING = 16;
    /** The lists of languages are called like this, so that no category may be. */
    public const string LANGUAGE_LISTS = '#language:';
    private const string ANNOUNCEMENT_MARK = '"regions"';
    /** Characters that need no escaping in a path (RFC 3986, section 3.3), and no `. ~ :` in front; openapi.json has the same. */
    public const string ID = '/^[A-Za-z0-9_-][A-Za-z0-9_.~:-]{0,63}$/D';

    private FieldReader $reader;

    /**
     * @param array<string, bool> $regions the known regions; true for those of this writer
     * @param int $now UTC seconds
     * @param int $shiftSeconds what every time is moved by, for archived data
     */
    public function __construct(private array $regions, private int $now, int $shiftSeconds = 0)
    {
        $this->reader = new FieldReader($shiftSeconds);
    }

    /**
     * Null for a line about a region of another writer, which reads it in turn.
     *
     * @throws RejectedLine
     */
    public function parse(string $line): ?Observation
    {
        $fields = $this->decode($line);
        $id = $this->id($fields);
        $region = $this->region($fields);
        if (!$this->regions[$region]) {
            return null;
        }

        return new Observation(
            videoId: $id,
            region: $region,
            observedAt: $this->observedAt($fields),
            views: $this->reader->count($fields, 'views') ??
                throw self::missing('views', 'the cumulative views'),
            likes: $this->reader->count($fields, 'likes'),
            comments: $this->reader->count($fields, 'comments'),
            title: $this->reader->text($fields, 'title', 300),
            channel: $this->reader->text($fields, 'channel', 200),
            thumbBase: $this->reader->thumbBase($fields),
            category: $this->category($fields),
            language: $this->reader->language($fields),
            publishedAt: $this->reader->time($fields, 'published_at'),
            durationSeconds: $this->reader->count($fields, 'duration_seconds'),
            url: $this->reader->url($fields),
        );
    }

    /**
     * A line that says what a video is and where it may be listed, without views. Null for every other line. Of its
     * regions those of other writers are left out, so that none may be left.
     *
     * @throws RejectedLine
     */
    public function parseAnnouncement(string $line): ?Announcement
    {
        $fields = str_contains($line, self::ANNOUNCEMENT_MARK) ? $this->decode($line) : [];
        if (!isset($fields['regions']) || isset($fields['views'])) {
            return null;
        }

        return new Announcement(
            videoId: $this->id($fields),
            regions: $this->regions($fields['regions']),
            description: [
                'title' => $this->reader->text($fields, 'title', 300),
                'channel' => $this->reader->text($fields, 'channel', 200),
                'thumb_base' => $this->reader->thumbBase($fields),
                'category' => $this->category($fields),
                'language' => $this->reader->language($fields),
                'published_at' => $this->reader->time($fields, 'published_at'),
                'duration_seconds' => $this->reader->count($fields, 'duration_seconds'),
                'url' => $this->reader->url($fields),
            ],
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
        return is_array($regions) &&
            $regions !== [] &&
            array_is_list($regions) &&
            array_all(
                $regions,
                fn(mixed $region): bool => is_string($region) && isset($this->regions[$region]),
            )
            ? array_values(
                array_filter(array_unique($regions), fn(string $region): bool => $this->regions[$region]),
            )
            : throw new RejectedLine(
                RejectionReason::UnknownRegion,
                'regions: expected a list of one or more of ' . implode(', ', array_keys($this->regions)),
            );
    }

    /** @param array<mixed> $fields */
    private function category(array $fields): ?string
    {
        $category = ($fields['category'] ?? '') === '' ? null : $this->reader->text($fields, 'category', 60);

        return str_starts_with($category ?? '', self::LANGUAGE_LISTS)
            ? throw new RejectedLine(
                RejectionReason::BadText,
                'category: expected a name that does not begin with ' . self::LANGUAGE_LISTS,
            )
            : $category;
    }

    /** @param array<mixed> $fields */
    private function observedAt(array $fields): int
    {
        $observedAt =
            $this->reader->time($fields, 'observed_at') ??
            throw self::missing('observed_at', 'the time of counting');

        return $observedAt <= $this->now + self::FUTURE_SECONDS
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
}
