<?php

declare(strict_types=1);

namespace TrendVault\Writer\Cli;

use SensitiveParameter;
use TrendVault\Writer\Sources\SourceFailure;
use TrendVault\Writer\Sources\YouTube\Api;

/** What the environment says about YouTube. */
final readonly class YouTubeSettings
{
    /** YouTube API Services Developer Policies, III.E.4: refresh or delete after 30 calendar days. After an outage deletion waits for one. */
    private const int MOST_KEEP_DAYS = 29;
    /** 14 regions of 4 pages are 56 units of quota; every ten minutes they stay under the usual 10,000 a day. */
    private const int INTERVAL_SECONDS = 600;
    /** How long the charts hold where counts are asked apart: 1,344 units a day in place of 8,064. */
    private const int CHART_INTERVAL_SECONDS = 3600;
    private const int TIMEOUT_SECONDS = 40;

    private function __construct(
        #[SensitiveParameter] public string $key,
        public string $url,
        /** Between two runs that ask for counts. */
        public int $intervalSeconds,
        /** Between two runs that ask for charts. */
        public int $chartIntervalSeconds,
        public int $timeoutSeconds,
    ) {}

    /** @throws SourceFailure|UsageError */
    public static function of(Settings $settings): self
    {
        if ($settings->keepDays > self::MOST_KEEP_DAYS) {
            throw SourceFailure::because(
                "Cannot read youtube with KEEP_DAYS=$settings->keepDays: YouTube's terms require that data is deleted or refreshed within 30 days. Set KEEP_DAYS to 29 or less.",
            );
        }

        return new self(
            $settings->sourceText('YOUTUBE_API_KEY') ??
                throw SourceFailure::because(
                    'Cannot read youtube: YOUTUBE_API_KEY is not set. Expected a key for the YouTube Data API v3.',
                ),
            $settings->sourceText('YOUTUBE_API_URL') ?? Api::URL,
            self::intervalSeconds($settings),
            $settings->sourceInteger(
                'YOUTUBE_CHART_INTERVAL_SECONDS',
                self::CHART_INTERVAL_SECONDS,
                0,
                86_400,
            ),
            $settings->sourceInteger('YOUTUBE_TIMEOUT_SECONDS', self::TIMEOUT_SECONDS, 1, 600),
        );
    }

    /** @throws UsageError */
    public static function intervalSeconds(Settings $settings): int
    {
        return $settings->sourceInteger('YOUTUBE_INTERVAL_SECONDS', self::INTERVAL_SECONDS, 0, 86_400);
    }
}
