<?php

declare(strict_types=1);

namespace TrendVault\Writer\Sources\YouTube;

use Override;
use Symfony\Component\HttpClient\HttpClient;
use TrendVault\Writer\Cli\Context;
use TrendVault\Writer\Cli\Settings;
use TrendVault\Writer\Database\Database;
use TrendVault\Writer\Sources\RunTime;
use TrendVault\Writer\Sources\Schedule;
use TrendVault\Writer\Sources\SourceFailure;
use TrendVault\Writer\Sources\SourceKind;
use TrendVault\Writer\WriterException;

/** YouTube: its charts, or between two readings of them the counts of their videos. */
final readonly class YouTube implements SourceKind
{
    public const bool REMOTE = true;
    public const ?string HOST = 'www.googleapis.com';
    public const array FORGET = [
        'DELETE FROM youtube_pages WHERE fetched_at < ?',
        'DELETE FROM youtube_regions WHERE asked_at < ?',
        'DELETE FROM youtube_videos WHERE charted_at < ?',
        'DELETE FROM youtube_quota WHERE day_began_at < ?',
    ];

    private const string NOTICE = "INSERT OR IGNORE INTO notices (name, said_at) VALUES ('youtube_terms', ?)";
    private const string TERMS = 'Since July 2025 YouTube\'s chart of most popular videos holds Music, Movies and Gaming only, and YouTube\'s Developer Policies (III.E.4) restrict metrics of your own that are derived from its data. docs/sources.md says what that means for a public list. This is said once.';
    /** YouTube API Services Developer Policies, III.E.4: refresh or delete after 30 calendar days. After an outage deletion waits for one. */
    private const int MOST_RETENTION_HOURS = 696; // 29 days
    /** 14 regions of 4 pages are 56 units of quota; every ten minutes they stay under the usual 10,000 a day. */
    private const int INTERVAL_SECONDS = 600;
    /** How long the charts hold where counts are asked apart: 1,344 units a day in place of 8,064. */
    private const int CHART_INTERVAL_SECONDS = 3600;

    public function __construct(private Context $context, private Database $database) {}

    /** @throws WriterException */
    public static function intervalSeconds(Settings $settings): int
    {
        return $settings->sourceIntervalSeconds(self::INTERVAL_SECONDS);
    }

    /** @return iterable<string, YouTubeSource|YouTubeCounts> none before SOURCE_INTERVAL_SECONDS have passed */
    #[Override]
    public function open(array $names, RunTime $time): iterable
    {
        $settings = $this->context->settings;
        if ($settings->observationRetentionHours > self::MOST_RETENTION_HOURS) {
            throw SourceFailure::because(
                "Cannot read youtube with OBSERVATION_RETENTION_HOURS=$settings->observationRetentionHours: YouTube's terms require that data is deleted or refreshed within 30 days. Set it to 696 or less.",
            );
        }
        $interval = self::intervalSeconds($settings);
        $api = $this->api($settings, $time);
        $now = $this->context->now();
        // Once in the life of a database, not at each run.
        if ($this->database->run(self::NOTICE, [$now]) === 1) {
            $this->context->log->warning(self::TERMS, ['event' => 'youtube_terms']);
        }
        $counts = new Schedule($this->database, YouTubeCounts::NAME, $interval);
        $countsPause = $counts->pause($now);
        $charts = new Schedule(
            $this->database,
            YouTubeSource::NAME,
            $countsPause === null ? max($interval, self::CHART_INTERVAL_SECONDS) : $interval,
        );
        foreach (array_filter([$charts->pause($now), $countsPause]) as $pause) {
            $pause->log($this->context->log);
        }
        $known = new Charts($this->database);

        return match (true) {
            $now >= $charts->dueAt($now) => [
                $names[0] => new YouTubeSource(
                    $api,
                    $known,
                    $charts,
                    $settings->regions()->own,
                    $this->context->clock,
                ),
            ],
            $now >= max($counts->dueAt($now), $charts->askedAt() + $interval) => [
                $names[0] => new YouTubeCounts($api, $known, $counts, $this->context->clock),
            ],
            default => [],
        };
    }

    /** @throws SourceFailure|WriterException */
    private function api(Settings $settings, RunTime $time): Api
    {
        return new Api(
            HttpClient::create(),
            new RetryPolicy($time->secondsLeft()),
            $settings->secret('YOUTUBE_API_KEY') ??
                throw SourceFailure::because(
                    'Cannot read youtube: YOUTUBE_API_KEY is not set. Expected a key for the YouTube Data API v3.',
                ),
            $settings->sourceText('YOUTUBE_API_URL') ?? Api::URL,
            new QuotaRecord($this->database, $this->context->clock),
        );
    }
}
