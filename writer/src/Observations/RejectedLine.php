<?php

declare(strict_types=1);

namespace TrendVault\Writer\Observations;

use Exception;

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
