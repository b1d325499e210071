<?php

declare(strict_types=1);

namespace TrendVault\Writer\Commands;

use Symfony\Component\HttpClient\HttpClient;
use TrendVault\Writer\Cli\Context;
use TrendVault\Writer\Cli\HttpSettings;
use TrendVault\Writer\Cli\RegionSettings;
use TrendVault\Writer\Cli\UsageError;
use TrendVault\Writer\Cli\YouTubeSettings;
use TrendVault\Writer\Database\Database;
use TrendVault\Writer\Database\Notices;
use TrendVault\Writer\Demo\DemoRegions;
use TrendVault\Writer\Demo\DemoSource;
use TrendVault\Writer\Sources\Edge\EdgeUrl;
use TrendVault\Writer\Sources\FileName;
use TrendVault\Writer\Sources\Http\Downloader;
use TrendVault\Writer\Sources\Http\HttpSource;
use TrendVault\Writer\Sources\Http\HttpUrl;
use TrendVault\Writer\Sources\Http\KnownVersions;
use TrendVault\Writer\Sources\NdjsonFile;
use TrendVault\Writer\Sources\Pause;
use TrendVault\Writer\Sources\PeerTube\InstanceUrl;
use TrendVault\Writer\Sources\PeerTube\PeerTubeSource;
use TrendVault\Writer\Sources\Schedule;
use TrendVault\Writer\Sources\Source;
use TrendVault\Writer\Sources\SourceFailure;
use TrendVault\Writer\Sources\SpoolFile;
use TrendVault\Writer\Sources\SpoolFolder;
use TrendVault\Writer\Sources\StandardInput;
use TrendVault\Writer\Sources\YouTube\Api;
use TrendVault\Writer\Sources\YouTube\ChartedVideos;
use TrendVault\Writer\Sources\YouTube\KnownPages;
use TrendVault\Writer\Sources\YouTube\QuotaRecord;
use TrendVault\Writer\Sources\YouTube\RegionTurns;
use TrendVault\Writer\Sources\YouTube\RetryPolicy;
use TrendVault\Writer\Sources\YouTube\YouTubeCounts;
use TrendVault\Writer\Sources\YouTube\YouTubeSource;

/** Makes sources from their names on the command line or in SOURCES. */
final readonly class SourceFactory
{
    private const string SPOOL = 'spool:';
    private const string YOUTUBE_TERMS = 'Since July 2025 YouTube\'s chart of most popular videos holds Music, Movies and Gaming only, and YouTube\'s Developer Policies (III.E.4) restrict metrics of your own that are derived from its data. docs/sources.md says what that means for a public list. This is said once.';

    /**
     * @return list<Source> a folder gives one for each of its files
     * @throws SourceFailure|UsageError
     */
    public static function open(string $name, Context $context, Database $database): array
    {
        return match (true) {
            $name === 'demo' => [self::demo($context, $database)],
            $name === 'youtube' => self::youtube($context, $database),
            str_starts_with($name, HttpUrl::PREFIX) => self::http(HttpUrl::read($name), $context, $database),
            InstanceUrl::isNamed($name) => self::peertube($name, $context, $database),
            $name === '-' => [new StandardInput(STDIN)],
            str_starts_with($name, self::SPOOL) => self::spool(substr($name, strlen(self::SPOOL)), $context),
            is_dir($name) => self::folder($name),
            is_file($name) => [new NdjsonFile($name)],
            default => throw SourceFailure::unknown($name),
        };
    }

    /** On an empty database a few observations of every video, later those of one minute. */
    private static function demo(Context $context, Database $database): DemoSource
    {
        return new DemoSource(
            $context->settings->demoSeed,
            $context->now(),
            fill: $database->value('SELECT 1 FROM observations LIMIT 1') === null,
            thumbBase: $context->settings->sourceText('DEMO_THUMB_BASE') ?? DemoSource::THUMB_BASE,
            regions: DemoRegions::of(RegionSettings::table($context->settings)),
        );
    }

    /**
     * The charts, or between two readings of them the counts of their videos.
     *
     * @return list<YouTubeSource|YouTubeCounts> none before YOUTUBE_INTERVAL_SECONDS have passed
     * @throws SourceFailure|UsageError
     */
    private static function youtube(Context $context, Database $database): array
    {
        $settings = YouTubeSettings::of($context->settings);
        if (new Notices($database)->isNew('youtube_terms', $context->now())) {
            $context->log->warning(self::YOUTUBE_TERMS, ['event' => 'youtube_terms']);
        }
        $now = $context->now();
        $counts = new Schedule($database, YouTubeCounts::NAME, $settings->intervalSeconds);
        $countsPause = $counts->pause($now);
        $charts = new Schedule(
            $database,
            YouTubeSource::NAME,
            $countsPause === null
                ? max($settings->intervalSeconds, $settings->chartIntervalSeconds)
                : $settings->intervalSeconds,
        );
        self::logPauses($context, [$charts->pause($now), $countsPause]);
        $api = new Api(
            HttpClient::create(),
            new RetryPolicy($settings->timeoutSeconds),
            $settings->key,
            $settings->url,
            new QuotaRecord($database, $context->clock),
        );

        return match (true) {
            $now >= $charts->dueAt($now) => [
                new YouTubeSource(
                    $api,
                    new KnownPages($database),
                    new ChartedVideos($database),
                    $charts,
                    new RegionTurns($database),
                    RegionSettings::of($context->settings)->codes,
                    $context->clock,
                ),
            ],
            $now >= max($counts->dueAt($now), $charts->askedAt() + $settings->intervalSeconds) => [
                new YouTubeCounts($api, new ChartedVideos($database), $counts, $context->clock),
            ],
            default => [],
        };
    }

    /** @param list<?Pause> $pauses */
    private static function logPauses(Context $context, array $pauses): void
    {
        foreach (array_filter($pauses) as $pause) {
            $context->log->info("YouTube is {$pause->text()}", [
                'event' => 'youtube_paused',
                ...$pause->facts(),
            ]);
        }
    }

    /**
     * @return list<HttpSource> none while the server wants to be left alone
     * @throws UsageError
     */
    private static function http(HttpUrl $url, Context $context, Database $database): array
    {
        $versions = new KnownVersions($database);
        $now = $context->now();
        $retryAt = $versions->retryAt($url->url, $now);
        if ($now < $retryAt) {
            $context->log->info(
                "{$url->label()} is not asked before " . gmdate('Y-m-d\TH:i:s\Z', $retryAt) . '.',
                [
                    'event' => 'http_source_paused',
                    'source' => $url->label(),
                ],
            );

            return [];
        }
        $rules = HttpSettings::of($context->settings);
        $folder = dirname($context->settings->databasePath);
        $downloader = new Downloader(HttpClient::create(), $rules, $folder);
        $readingSeconds = $context->settings->spoolFileTimeoutSeconds;

        return [new HttpSource($url, $downloader, $versions, $context->clock, $readingSeconds)];
    }

    /**
     * @return list<PeerTubeSource> none while the instance is not to be asked
     * @throws SourceFailure|UsageError
     */
    private static function peertube(string $name, Context $context, Database $database): array
    {
        $sources = [];
        foreach (new PeerTubeInstances($context, $database)->open([$name]) as $source) {
            $sources[] = $source instanceof SourceFailure ? throw $source : $source;
        }

        return $sources;
    }

    /** @return list<SpoolFile> may be empty */
    private static function spool(string $folder, Context $context): array
    {
        return is_dir($folder)
            ? SpoolFolder::files($folder, $context->settings->spoolFileTimeoutSeconds)
            : throw SourceFailure::missing($folder);
    }

    /** @return list<NdjsonFile> */
    private static function folder(string $path): array
    {
        $files = [];
        foreach (FileName::in($path) as $name) {
            if (FileName::isComplete($name)) {
                $files[] = "$path/$name";
            }
        }
        sort($files, SORT_STRING);

        return $files === []
            ? throw SourceFailure::emptyFolder($path)
            : array_map(static fn(string $file): NdjsonFile => new NdjsonFile($file), $files);
    }
}

/** What may be said in public of where counts come from: kinds and hosts, without keys and paths. */
final readonly class SourceKinds
{
    private const string YOUTUBE_HOST = 'www.googleapis.com';

    /**
     * @param list<string> $sources as in SOURCES
     * @return list<array{kind: string, host: ?string}> each once
     */
    public static function of(array $sources): array
    {
        return array_values(array_unique(array_map(self::kind(...), $sources), SORT_REGULAR));
    }

    /** For metrics, such as youtube, spool or peertube:tube.example: without keys and paths. */
    public static function label(string $source): string
    {
        ['kind' => $kind, 'host' => $host] = self::kind($source);

        return match (true) {
            str_starts_with($source, 'spool:') => 'spool',
            $kind === 'youtube', $host === null => $kind,
            default => "$kind:$host",
        };
    }

    /** @return array{kind: string, host: ?string} */
    private static function kind(string $source): array
    {
        return match (true) {
            $source === 'demo' => ['kind' => 'demo', 'host' => null],
            $source === 'youtube' => ['kind' => 'youtube', 'host' => self::YOUTUBE_HOST],
            str_starts_with($source, EdgeUrl::PREFIX) => [
                'kind' => 'edge',
                'host' => parse_url(substr($source, strlen(EdgeUrl::PREFIX)), PHP_URL_HOST) ?: null,
            ],
            str_starts_with($source, HttpUrl::PREFIX) => [
                'kind' => 'http',
                'host' => parse_url(substr($source, strlen(HttpUrl::PREFIX)), PHP_URL_HOST) ?: null,
            ],
            InstanceUrl::isNamed($source) => [
                'kind' => 'peertube',
                'host' => parse_url(substr($source, strlen(InstanceUrl::PREFIX)), PHP_URL_HOST) ?: null,
            ],
            default => ['kind' => 'ndjson', 'host' => null],
        };
    }
}
