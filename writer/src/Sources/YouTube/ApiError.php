<?php

declare(strict_types=1);

namespace TrendVault\Writer\Sources\YouTube;

/** What an answer that is not 200 or 304 means, after https://developers.google.com/youtube/v3/docs/errors. */
enum ApiError
{
    /** The day's quota is used up, until midnight Pacific time. */
    case QuotaExceeded;
    case KeyRefused;
    /** The region has no chart. */
    case NoChart;
    /** Too many requests, or a fault at their end: worth another attempt. */
    case Temporary;
    case Unexpected;

    private const array QUOTA_REASONS = ['quotaExceeded', 'dailyLimitExceeded'];
    private const array RATE_REASONS = ['rateLimitExceeded', 'userRateLimitExceeded'];
    private const array KEY_REASONS = [
        'keyInvalid',
        'keyExpired',
        'accessNotConfigured',
        'forbidden',
        'ipRefererBlocked',
        'API_KEY_INVALID',
    ];

    /** @param int $status 400 or more */
    public static function of(int $status, string $body): self
    {
        $reasons = self::reasons($body);

        return match (true) {
            array_intersect($reasons, self::QUOTA_REASONS) !== [] => self::QuotaExceeded,
            $status >= 500,
            $status === 429,
            array_intersect($reasons, self::RATE_REASONS) !== []
                => self::Temporary,
            $status === 401, array_intersect($reasons, self::KEY_REASONS) !== [] => self::KeyRefused,
            in_array('videoChartNotFound', $reasons, true) => self::NoChart,
            default => self::Unexpected,
        };
    }

    /** @return list<string> */
    private static function reasons(string $body): array
    {
        $error = json_decode($body, true)['error'] ?? [];
        $entries = is_array($error)
            ? [...(array) ($error['errors'] ?? []), ...(array) ($error['details'] ?? [])]
            : [];

        return array_values(array_filter(array_column($entries, 'reason'), is_string(...)));
    }
}
