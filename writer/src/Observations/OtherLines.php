<?php

declare(strict_types=1);

namespace TrendVault\Writer\Observations;

use Exception;
use TrendVault\Writer\Database\RemovalKind;

/** What a video is and where it may be listed, without views: a line of a site's catalogue. */
final readonly class Announcement
{
    /**
     * @param list<string> $regions of this writer; none when all are other writers'
     * @param array<string, string|int|null> $description by column of videos and details; null for a field that the line does not have
     * @param list<string> $unset names of fields that are taken back
     * @param array<string, mixed> $restrictions see Restrictions::say()
     * @param array<string, ?string> $details those of the description that the line has; null for a bad value
     */
    public function __construct(
        public string $videoId,
        public array $regions,
        public array $description,
        public array $unset = [],
        public array $restrictions = [],
        public array $details = [],
    ) {}
}

/**
 * A line that takes a video or a channel down, instead of counting views:
 * `{"id": "dQw4w9WgXcQ", "removed": true, "reason": "…"}`, or `channel` in place of `id`. With false it takes that back.
 */
final readonly class Removal
{
    public function __construct(
        public RemovalKind $kind,
        public string $name,
        public string $reason,
        public bool $isTakenBack = false,
    ) {}
}

/** A line that cannot be stored; the message says what was expected. */
final class RejectedLine extends Exception
{
    public function __construct(public readonly RejectionReason $reason, string $expected)
    {
        parent::__construct($expected);
    }
}

/** Why a line was rejected. The list is closed: `status` and monitors count by it. */
enum RejectionReason: string
{
    case TooLong = 'too_long';
    case CutOff = 'cut_off';
    case NotUtf8 = 'not_utf8';
    case NotJson = 'not_json';
    case NotAnObject = 'not_an_object';
    case MissingField = 'missing_field';
    case MissingMetadata = 'missing_metadata';
    case BadId = 'bad_id';
    case UnknownRegion = 'unknown_region';
    case BadTime = 'bad_time';
    case InTheFuture = 'in_the_future';
    case BadCount = 'bad_count';
    case BadText = 'bad_text';
    case BadLanguage = 'bad_language';
    case BadThumbBase = 'bad_thumb_base';
    case BadUrl = 'bad_url';
    case BadUnset = 'bad_unset';
}
