<?php

declare(strict_types=1);

namespace TrendVault\Writer\Cli;

use SensitiveParameter;
use TrendVault\Writer\Sources\Edge\KeyRing;
use TrendVault\Writer\Sources\Http\DownloadRules;
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

/** What the environment says about PeerTube's instances. */
final readonly class PeerTubeSettings
{
    /** An instance adds up its views for half an hour (views.videos.local_buffer_update_interval) before it shows them. */
    private const int INTERVAL_SECONDS = 1800;
    private const int TIMEOUT_SECONDS = 40;
    private const int MOST_VIDEOS = 5000;

    private function __construct(
        public int $intervalSeconds,
        /** For all instances of a run together. */
        public int $timeoutSeconds,
        /** Of each instance. */
        public int $mostVideos,
    ) {}

    /** @throws UsageError */
    public static function of(Settings $settings): self
    {
        return new self(
            $settings->sourceInteger('PEERTUBE_INTERVAL_SECONDS', self::INTERVAL_SECONDS, 0, 86_400),
            $settings->sourceInteger('PEERTUBE_TIMEOUT_SECONDS', self::TIMEOUT_SECONDS, 1, 600),
            $settings->sourceInteger('PEERTUBE_MAX_VIDEOS', self::MOST_VIDEOS, 1, 100_000),
        );
    }
}

/** What the environment says about the source http:URL. */
final readonly class HttpSettings
{
    private const string AUTHORIZATION = '/^([a-z0-9.:\[\]-]+)\s+([!-~]+(?: [!-~]+)*)$/Di';

    /** @throws UsageError */
    public static function of(Settings $settings): DownloadRules
    {
        return new DownloadRules(
            $settings->sourceInteger('HTTP_SOURCE_TIMEOUT_SECONDS', 40, 1, 3600),
            1_000_000 * $settings->sourceInteger('HTTP_SOURCE_MAX_MEGABYTES', 1000, 1, 100_000),
            self::authorizations($settings->sourceText('HTTP_SOURCE_AUTHORIZATION') ?? ''),
        );
    }

    /**
     * @return array<string, string>
     * @throws UsageError which does not repeat the value
     */
    private static function authorizations(#[SensitiveParameter] string $value): array
    {
        $byHost = [];
        foreach (array_filter(array_map(trim(...), explode(',', $value))) as $number => $part) {
            if (preg_match(self::AUTHORIZATION, $part, $match) !== 1) {
                throw UsageError::because(
                    'HTTP_SOURCE_AUTHORIZATION: part ' .
                        ($number + 1) .
                        ' is not a host and what it is sent, for example "stats.example Bearer abc, other.example Basic dXNlcjpr".',
                );
            }
            $byHost[strtolower($match[1])] = $match[2];
        }

        return $byHost;
    }
}

/** What the environment says about pulling counts from the edge. */
final readonly class EdgeSettings
{
    private const float CEILING_FACTOR = 3;
    private const int MOST_CEILING_FACTOR = 1000;
    private const int TIMEOUT_SECONDS = 40;

    private function __construct(
        public KeyRing $keys,
        /** How many looks are counted at most for each list that the edge served. */
        public float $ceilingFactor,
        /** For all requests of a run together. */
        public int $timeoutSeconds,
    ) {}

    /** @throws SourceFailure|UsageError */
    public static function of(Settings $settings): self
    {
        return new self(
            KeyRing::read(
                $settings->sourceText('VIEWS_KEYS') ??
                    throw SourceFailure::because(
                        'Cannot read the edge: VIEWS_KEYS is not set. Expected id:key, as the edge has it.',
                    ),
            ),
            $settings->sourceNumber(
                'VIEWS_CEILING_FACTOR',
                self::CEILING_FACTOR,
                0,
                self::MOST_CEILING_FACTOR,
            ),
            $settings->sourceInteger('VIEWS_TIMEOUT_SECONDS', self::TIMEOUT_SECONDS, 1, 600),
        );
    }
}
