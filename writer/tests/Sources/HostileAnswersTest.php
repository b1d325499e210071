<?php

declare(strict_types=1);

namespace TrendVault\Writer\Tests\Sources;

use PHPUnit\Framework\Attributes\DataProvider;
use PHPUnit\Framework\Attributes\Test;
use PHPUnit\Framework\TestCase;
use Random\Randomizer;
use Symfony\Component\HttpClient\MockHttpClient;
use Symfony\Component\HttpClient\Response\MockResponse;
use TrendVault\Writer\Database\Database;
use TrendVault\Writer\Ingest\ObservationStore;
use TrendVault\Writer\Ingest\SourceIngestion;
use TrendVault\Writer\Observations\ObservationParser;
use TrendVault\Writer\Sources\Http\Downloader;
use TrendVault\Writer\Sources\Http\HttpSource;
use TrendVault\Writer\Sources\Http\HttpUrl;
use TrendVault\Writer\Sources\Http\KnownVersions;
use TrendVault\Writer\Sources\PeerTube\Api as InstanceApi;
use TrendVault\Writer\Sources\PeerTube\InstanceUrl;
use TrendVault\Writer\Sources\PeerTube\KnownPages;
use TrendVault\Writer\Sources\PeerTube\PeerTubeSource;
use TrendVault\Writer\Sources\PeerTube\RegionRule;
use TrendVault\Writer\Sources\RunTime;
use TrendVault\Writer\Sources\Source;
use TrendVault\Writer\Sources\Schedule;
use TrendVault\Writer\Sources\YouTube\Api;
use TrendVault\Writer\Sources\YouTube\Charts;
use TrendVault\Writer\Sources\YouTube\RetryPolicy;
use TrendVault\Writer\Sources\YouTube\YouTubeSource;
use TrendVault\Writer\Tests\Support\Draws;
use TrendVault\Writer\Tests\Support\FixedClock;
use TrendVault\Writer\Tests\Support\MigratedDatabase;
use TrendVault\Writer\Tests\Support\TemporaryFolder;

/** Whatever another server answers, run after run: what is stored of it has a bound. */
final class HostileAnswersTest extends TestCase
{
    private const int MOST_REJECTED_BYTES = 5 * 1024 * 1024;
    private const int LONGEST_TEXT = 500;
    private const int MOST_PAGES = 4;
    private const array TEXTS = [
        'source_schedules' => ['failure'],
        'youtube_pages' => ['etag', 'next_page_token'],
        'youtube_videos' => ['video_id'],
        'peertube_pages' => ['etag'],
        'http_sources' => ['etag'],
        'videos' => ['id', 'title', 'channel', 'category', 'language', 'thumb_base'],
    ];

    private Database $database;
    private FixedClock $clock;
    private Randomizer $random;

    protected function setUp(): void
    {
        $this->database = MigratedDatabase::inMemory();
        $this->clock = new FixedClock();
        $this->random = Draws::randomizer();
    }

    #[Test]
    #[DataProvider('kinds')]
    public function what_another_server_can_make_us_store_is_bounded_and_what_is_rejected_is_counted(
        string $kind,
    ): void {
        $folder = new TemporaryFolder();
        $rejected = 0;
        for ($run = Draws::count(usual: 12, long: 200); $run > 0; $run--) {
            $this->clock->now += 7200;
            $rejected += $this->ingest($this->source($kind, $folder), "$folder->path/rejected");
            $files = glob("$folder->path/rejected/*") ?: [];
            self::assertLessThanOrEqual(2, count($files), Draws::hint());
            self::assertLessThan(self::MOST_REJECTED_BYTES, array_sum(array_map(filesize(...), $files)));
            $this->expectShortTexts();
        }

        self::assertSame($rejected, (int) $this->database->value('SELECT sum(line_count) FROM rejections'));
        self::assertLessThanOrEqual(
            self::MOST_PAGES,
            $this->database->value(
                'SELECT max((SELECT count(*) FROM peertube_pages), (SELECT count(*) FROM youtube_pages))',
            ),
        );
    }

    /** @return array<string, array{string}> */
    public static function kinds(): array
    {
        return ['PeerTube' => ['peertube'], 'YouTube' => ['youtube'], 'a file' => ['file']];
    }

    private function expectShortTexts(): void
    {
        foreach (self::TEXTS as $table => $columns) {
            foreach ($columns as $column) {
                $longest = $this->database->value("SELECT ifnull(max(length($column)), 0) FROM $table");
                self::assertLessThanOrEqual(self::LONGEST_TEXT, $longest, "$table.$column, " . Draws::hint());
            }
        }
    }

    /** @return int lines that were rejected */
    private function ingest(Source $source, string $folder): int
    {
        $run = MigratedDatabase::beginRun($this->database);
        $parser = new ObservationParser(['DE' => true], $this->clock->now);
        $store = new ObservationStore($this->database, $this->clock->now);
        $ingestion = new SourceIngestion($this->database, $run, $parser, $store, $folder);

        return array_sum($ingestion->ingest($source, static fn(): null => null)['rejections']);
    }

    private function source(string $kind, TemporaryFolder $folder): Source
    {
        $client = new MockHttpClient(fn(): MockResponse => $this->answer($kind));
        $instance = InstanceUrl::read('peertube:https://tube.example#DE');
        $schedule = new Schedule($this->database, $kind, 1800);

        return match ($kind) {
            'peertube' => new PeerTubeSource(
                $instance,
                new InstanceApi($client, $instance, paceSeconds: 0.0),
                new KnownPages($this->database, $instance->host),
                $schedule,
                RegionRule::of($instance, ['DE' => ['de']]),
                new RunTime(600.0),
                $this->clock,
                self::MOST_PAGES,
            ),
            'youtube' => new YouTubeSource(
                new Api($client, new RetryPolicy(600.0, delayMilliseconds: 1), 'key'),
                new Charts($this->database),
                $schedule,
                ['DE'],
                $this->clock,
            ),
            'file' => new HttpSource(
                ($url = HttpUrl::read('http:https://stats.example/views.ndjson')),
                new Downloader($client, $folder->path, new RunTime(600), 100_000_000, [])->fetch([$url])[0],
                new KnownVersions($this->database, 3600),
                $this->clock,
                600,
            ),
        };
    }

    private function answer(string $kind): MockResponse
    {
        $host = $this->random->getInt(0, 3) > 0 ? 'tube.example' : $this->text(longOneIn: 2);
        $items = array_map(
            fn(): array => $kind === 'peertube' ? $this->video($host) : $this->charted(),
            range(1, $this->random->getInt(1, 300)),
        );
        $body = match ($kind) {
            'peertube' => ['data' => $items],
            'youtube' => ['items' => $items, 'nextPageToken' => $this->text(longOneIn: 2)],
            'file' => implode("\n", array_map(fn(): string => $this->text(), $items)),
        };

        return new MockResponse(is_string($body) ? $body : json_encode($body, JSON_THROW_ON_ERROR), [
            'http_code' => $this->random->getInt(0, 5) === 0 ? $this->random->getInt(400, 599) : 200,
            'response_headers' => ['ETag' => $this->text()],
        ]);
    }

    /** @return array<string, mixed> */
    private function video(string $host): array
    {
        return [
            'shortUUID' => strtr(
                sprintf('%022d', $this->random->getInt(1, 999_999)),
                '0123456789',
                'aBcDeFgHjK',
            ),
            'name' => $this->random->getInt(0, 1) === 1 ? $this->text() : ' ',
            'isLocal' => $this->random->getInt(0, 9) > 0,
            'views' => $this->random->getInt(-5, 5),
            'language' => ['id' => $this->text()],
            'category' => ['id' => $this->random->getInt(0, 99), 'label' => $this->text()],
            'thumbnailPath' => "/{$this->text()}.jpg",
            'channel' => [
                'displayName' => $this->text(),
                'host' => $host,
            ],
        ];
    }

    /** @return array<string, mixed> */
    private function charted(): array
    {
        return [
            'id' => $this->text(),
            'snippet' => [
                'title' => $this->text(),
                'channelTitle' => $this->text(),
                'publishedAt' => $this->text(),
                'defaultLanguage' => $this->text(),
            ],
            'statistics' => ['viewCount' => $this->random->getInt(0, 1) === 1 ? '5' : $this->text()],
            'contentDetails' => ['duration' => $this->text()],
        ];
    }

    /** Mostly short, as the whole answer has a bound, too. */
    private function text(int $longOneIn = 20): string
    {
        return str_repeat(
            ['a', "\u{202e}", '5', '-', 'ä'][$this->random->getInt(0, 4)],
            $this->random->getInt(1, $longOneIn) === 1
                ? $this->random->getInt(501, 4000)
                : $this->random->getInt(1, 9),
        );
    }
}
