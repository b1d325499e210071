<?php

declare(strict_types=1);

namespace TrendVault\Writer\Token;

enum Verdict: string
{
    case Valid = 'valid';
    case Malformed = 'malformed';
    case UnknownKey = 'unknown-key';
    case Tampered = 'tampered';
    case NotYetValid = 'not-yet-valid';
    case Expired = 'expired';
}
