<?php

declare(strict_types=1);

namespace TrendVault\Writer\Status;

use TrendVault\Writer\Database\Database;
use TrendVault\Writer\Database\RegionTable;
use TrendVault\Writer\Database\RemovalKind;
use TrendVault\Writer\Database\Removals;
use TrendVault\Writer\Editorial\EditorialStore;
use TrendVault\Writer\Observations\Restrictions;
use TrendVault\Writer\Sources\Pause;
use TrendVault\Writer\Time\Rfc3339;
use TrendVault\Writer\Time\SystemClock;

/** The state of a database, as text and as JSON. Only reads. */
final readonly class StatusReport
{
    private const int REJECTIONS_PERIOD_SECONDS = 86_400;

    private const string REJECTIONS = <<<'SQL'
    SELECT reason, sum(line_count) AS lines FROM rejections JOIN runs ON runs.id = run_id
    WHERE started_at >= ? GROUP BY reason ORDER BY lines DESC, reason
    SQL;

    private const string LAST_CHECK = 'SELECT checked_at, result, detail FROM checks ORDER BY id DESC LIMIT 1';

    /**
     * @param ?array{command: string, started_at: int, exit_code: ?int, error: ?string} $lastRun
     * @param ?array{id: int, published_at: int, video_count: int, formula: string} $generation
     * @param array<string, int> $rejections by reason
     * @param array{videos: int, channels: int} $removals
     * @param array<string, int> $held videos that are held back, by the reason
     * @param ?array{checked_at: int, result: string, detail: ?string} $lastCheck
     * @param ?int $oldestObservedAt UTC seconds
     * @param int $futureVideos velocities whose newest observation is of the future: they do not rank
     * @param array<int, string> $exitCodeLabels
     * @param list<Pause> $pauses
     * @param ?array{read_at: ?string, failed_at: ?string, failure: ?string, removals: int, pins: int, rules: int, reviews: int, lifted: int, waiting: int, placed: array{ranks: int, impressions: float, clicks: float, model_clicks: float}, not_shown: list<array{video: string, region: string, window: string, category: ?string, reason: string}>} $editorial
     */
    private function __construct(
        private int $now,
        private string $path,
        private ?array $lastRun,
        private ?array $generation,
        private RegionReport $regions,
        private array $rejections,
        private array $removals,
        private array $held,
        private ?array $lastCheck,
        private ?int $oldestObservedAt,
        private int $futureVideos,
        private array $exitCodeLabels,
        private array $pauses,
        private ?PullReport $pull,
        private PublicationReport $publications,
        private ?BackupReport $backups,
        private ?array $editorial,
    ) {}

    /**
     * @param int $now UTC seconds
     * @param array<int, string> $labels what each exit code is called
     */
    public static function of(
        Database $database,
        string $path,
        int $now,
        array $labels,
        ?RegionTable $regions = null,
    ): self {
        /** @var ?array{command: string, started_at: int, exit_code: ?int, error: ?string} $run */
        $run = $database->row('SELECT * FROM runs ORDER BY id DESC LIMIT 1');
        /** @var ?array{id: int, published_at: int, video_count: int, formula: string} $generation */
        $generation = $database->row('SELECT * FROM generations ORDER BY id DESC LIMIT 1');
        /** @var list<array{reason: string, lines: int}> $rejections */
        $rejections = $database->rows(self::REJECTIONS, [$now - self::REJECTIONS_PERIOD_SECONDS]);
        /** @var ?array{checked_at: int, result: string, detail: ?string} $check */
        $check = $database->row(self::LAST_CHECK);

        /** @var array<string, int> $held */
        $held = array_column($database->rows(Restrictions::HELD), 'videos', 'reason');

        return new self(
            $now,
            $path,
            $run,
            $generation,
            RegionReport::of($database, $now, $regions),
            array_column($rejections, 'lines', 'reason'),
            array_map(new Removals($database)->count(...), [
                'videos' => RemovalKind::Video,
                'channels' => RemovalKind::Channel,
            ]),
            $held,
            $check,
            $database->number('SELECT min(observed_at) FROM observations'),
            $database->number('SELECT count(*) FROM velocity WHERE last_observed_at > ?', [
                $now + SystemClock::TOLERANCE_SECONDS,
            ]) ?? 0,
            $labels,
            Pause::all($database, $now),
            PullReport::of($database),
            PublicationReport::of($database, $now),
            BackupReport::of($database, $now),
            new EditorialStore($database)->facts($now),
        );
    }

    /** Null when nothing was published yet. */
    public function generationAgeSeconds(): ?int
    {
        return $this->generation === null ? null : $this->now - $this->generation['published_at'];
    }

    /** One object, with times as RFC 3339 and ages in seconds. */
    public function json(): string
    {
        return json_encode(
            [
                'database' => [
                    'path' => $this->path,
                    'bytes' => filesize($this->path),
                    'wal_bytes' => $this->walBytes(),
                ],
                'last_run' => $this->lastRun === null ? null : Rfc3339::inRow($this->lastRun),
                'generation' =>
                    $this->generation === null
                        ? null
                        : [
                            ...Rfc3339::inRow($this->generation),
                            'age_seconds' => $this->generationAgeSeconds(),
                        ],
                ...$this->regions->facts(),
                'rejected_last_day' => (object) $this->rejections,
                'removed' => $this->removals,
                'held_back' => (object) $this->held,
                'editorial' => $this->editorial,
                'last_check' => $this->lastCheck === null ? null : Rfc3339::inRow($this->lastCheck),
                ...Rfc3339::inRow(['oldest_observed_at' => $this->oldestObservedAt]),
                'future_videos' => $this->futureVideos,
                'paused_sources' => array_map(
                    static fn(Pause $pause): array => $pause->facts(),
                    $this->pauses,
                ),
                'pulled' => $this->pull?->facts(),
                'stores' => $this->publications->facts(),
                'backup' => $this->backups?->facts(),
            ],
            JSON_PRETTY_PRINT | JSON_UNESCAPED_SLASHES | JSON_UNESCAPED_UNICODE | JSON_THROW_ON_ERROR,
        ) . "\n";
    }

    /** Lines for a terminal. */
    public function text(): string
    {
        $size = sprintf('%.1f MB, WAL %.1f MB', (int) filesize($this->path) / 1e6, $this->walBytes() / 1e6);
        $lines = [
            "Database    $this->path ($size)",
            'Last run    ' . $this->runText(),
            'Generation  ' . $this->generationText(),
            ...$this->regions->ranked(),
            'Rejected    ' .
            ($this->rejections === []
                ? 'no line in the last day'
                : 'in the last day: ' . self::counted($this->rejections)),
            "Removed     {$this->removals['videos']} videos, {$this->removals['channels']} channels",
            'Held back   ' . ($this->held === [] ? 'no video' : self::counted($this->held)),
            ...$this->editorialLines(),
            'Checked     ' . $this->checkText(),
            'History     ' . $this->historyText(),
            ...array_map(static fn(Pause $pause): string => "Paused      {$pause->text()}", $this->pauses),
            ...$this->pull === null ? [] : ["Pulled      {$this->pull->text()}"],
            ...$this->publications->lines(),
            ...$this->backups === null ? [] : ["Backup      {$this->backups->text()}"],
            '',
            ...$this->regions->lines(),
        ];

        return implode("\n", $lines) . "\n";
    }

    /** @return list<string> */
    private function editorialLines(): array
    {
        if ($this->editorial === null) {
            return [];
        }
        [
            'removals' => $removals,
            'pins' => $pins,
            'rules' => $rules,
            'reviews' => $reviews,
            'lifted' => $lifted,
            'waiting' => $waiting,
            'failure' => $failure,
        ] = $this->editorial;
        $shown = $pins - count($this->editorial['not_shown']);
        $inForce = $this->editorial['read_at'] === null ? 'no' : 'an older';

        return [
            "Editorial   $removals removals, $pins pins, of which $shown are shown, $rules rules, $reviews reviews, $lifted restrictions lifted, $waiting videos wait (`writer editorial`)",
            ...$failure === null
                ? []
                : ["            since {$this->editorial['failed_at']} $inForce file is in force: $failure"],
        ];
    }

    private function generationText(): string
    {
        if ($this->generation === null) {
            return 'none yet';
        }
        ['id' => $id, 'video_count' => $videos, 'formula' => $formula] = $this->generation;
        $age = self::age((int) $this->generationAgeSeconds());

        return "$id, $age old, $videos videos, $formula";
    }

    private function runText(): string
    {
        if ($this->lastRun === null) {
            return 'none yet';
        }
        [
            'command' => $command,
            'started_at' => $started,
            'exit_code' => $code,
            'error' => $error,
        ] = $this->lastRun;
        $result = $code === null ? 'running or killed' : "{$this->exitCodeLabels[$code]} (exit code $code)";

        return "$command, " .
            self::age($this->now - $started) .
            " ago: $result" .
            ($error === null ? '' : "\n            $error");
    }

    private function checkText(): string
    {
        if ($this->lastCheck === null) {
            return 'never';
        }
        ['checked_at' => $checkedAt, 'result' => $result, 'detail' => $detail] = $this->lastCheck;

        return self::age($this->now - $checkedAt) . " ago: $result" . ($detail === null ? '' : ", $detail");
    }

    private function historyText(): string
    {
        $since =
            $this->oldestObservedAt === null ? 'none yet' : self::age($this->now - $this->oldestObservedAt);
        $future = number_format($this->futureVideos);

        return $since .
            ($this->futureVideos === 0
                ? ''
                : "; $future videos do not rank, their newest observation is of the future: run `writer repair`");
    }

    /** @param array<string, int> $counts by reason */
    private static function counted(array $counts): string
    {
        return implode(
            ', ',
            array_map(
                static fn(string $reason, int $count): string => number_format($count) . " $reason",
                array_keys($counts),
                $counts,
            ),
        );
    }

    private function walBytes(): int
    {
        return is_file("$this->path-wal") ? (int) filesize("$this->path-wal") : 0;
    }

    /** In the largest unit of which there are at least two. */
    public static function age(int $seconds): string
    {
        return match (true) {
            $seconds < 120 => "$seconds s",
            $seconds < 7200 => intdiv($seconds, 60) . ' min',
            $seconds < 172_800 => intdiv($seconds, 3600) . ' h',
            default => intdiv($seconds, 86_400) . ' days',
        };
    }
}

/** How many videos each region has, how fresh it is, and which regions are ranked. */
final readonly class RegionReport
{
    private const string REGIONS = <<<'SQL'
    WITH known (region, at) AS (
      SELECT region, last_observed_at FROM velocity UNION ALL SELECT region, NULL FROM (SELECT DISTINCT region, video_id FROM catalogue) AS c
      WHERE NOT EXISTS (SELECT 1 FROM velocity WHERE video_id = c.video_id AND region = c.region)
    ), counted AS (SELECT region, count(*) AS videos, max(at) AS newest FROM known GROUP BY region)
    SELECT r.code AS region, ifnull(c.videos, 0) AS videos, c.newest AS newest_observed_at
    FROM regions AS r LEFT JOIN counted AS c ON c.region = r.code ORDER BY r.code
    SQL;

    /**
     * @param list<array{region: string, videos: int, newest_observed_at: ?int}> $rows
     * @param ?RegionTable $regions null when all regions are ranked
     */
    private function __construct(private array $rows, private int $now, private ?RegionTable $regions) {}

    /** @param int $now UTC seconds */
    public static function of(Database $database, int $now, ?RegionTable $regions): self
    {
        /** @var list<array{region: string, videos: int, newest_observed_at: ?int}> $rows */
        $rows = $database->rows(self::REGIONS);
        $known = $regions?->ownership();
        $listed = [];
        foreach ($rows as $row) {
            if ($known === null || isset($known[$row['region']])) {
                $listed[] = $row;
            }
        }

        return new self($listed, $now, $regions);
    }

    /** @return array<string, mixed> members of the status */
    public function facts(): array
    {
        return [
            'ranked_regions' => $this->isWhole() ? null : $this->regions?->own, // null: all
            'regions' => array_map(
                fn(array $row): array => [
                    ...Rfc3339::inRow($row),
                    'age_seconds' => $this->age($row['newest_observed_at']),
                ],
                $this->rows,
            ),
        ];
    }

    /** @return list<string> a line, or none when all regions are ranked */
    public function ranked(): array
    {
        return $this->regions === null || $this->isWhole()
            ? []
            : ['Ranks       ' . implode(', ', $this->regions->own) . ' only'];
    }

    /** @return list<string> a table */
    public function lines(): array
    {
        $lines = ['Region   Videos  Newest observation'];
        foreach ($this->rows as ['region' => $region, 'videos' => $videos, 'newest_observed_at' => $newest]) {
            $age = $this->age($newest);
            $lines[] = sprintf(
                '%-6s %8d  %s',
                $region,
                $videos,
                $age === null ? 'never' : StatusReport::age($age) . ' ago',
            );
        }

        return $lines;
    }

    private function isWhole(): bool
    {
        return $this->regions?->isWhole() ?? true;
    }

    private function age(?int $observedAt): ?int
    {
        return $observedAt === null ? null : $this->now - $observedAt;
    }
}

/**
 * What was published into object storage, and how the last run ended there.
 *
 * @phpstan-type Row array{store: string, generation: ?int, published_at: ?int, seconds: ?float, file_bytes: ?int, bundle_generation: ?int, bundle_published_at: ?int, bundle_seconds: ?float, bundle_bytes: ?int, failed_at: ?int, failure: ?string}
 */
final readonly class PublicationReport
{
    private const string STORES = <<<'SQL'
    SELECT store, generation, published_at, seconds, file_bytes, bundle_generation, bundle_published_at, bundle_seconds,
      bundle_bytes, failed_at, failure
    FROM publications ORDER BY max(ifnull(published_at, 0), ifnull(failed_at, 0)) DESC
    SQL;

    /**
     * @param list<Row> $stores the one that was used last is the first
     * @param int $now UTC seconds
     */
    private function __construct(private array $stores, private int $now) {}

    public static function of(Database $database, int $now): self
    {
        /** @var list<Row> $stores */
        $stores = $database->rows(self::STORES);

        return new self($stores, $now);
    }

    /** @return list<array<string, mixed>> an object for each store */
    public function facts(): array
    {
        return array_map(
            fn(array $store): array => [
                ...Rfc3339::inRow($store),
                'age_seconds' => $store['published_at'] === null ? null : $this->now - $store['published_at'],
            ],
            $this->stores,
        );
    }

    /** @return list<string> none when nothing was ever published */
    public function lines(): array
    {
        return array_merge(...array_map($this->linesOf(...), $this->stores));
    }

    /**
     * @param Row $store
     * @return list<string>
     */
    private function linesOf(array $store): array
    {
        $lines = ["Store       {$store['store']}: " . $this->publishedText($store)];
        if ($store['bundle_generation'] !== null && $store['bundle_bytes'] !== null) {
            $lines[] = sprintf(
                '            bundle of generation %d, %s ago, %.1f MB, in %.1f s',
                $store['bundle_generation'],
                $this->age($store['bundle_published_at']),
                $store['bundle_bytes'] / 1e6,
                $store['bundle_seconds'] ?? 0,
            );
        }
        if ($store['failure'] !== null) {
            $lines[] = "            failed {$this->age($store['failed_at'])} ago: {$store['failure']}";
        }

        return $lines;
    }

    /** @param Row $store */
    private function publishedText(array $store): string
    {
        return $store['generation'] === null
            ? 'nothing published yet'
            : sprintf(
                'generation %d, %s ago, %.1f MB%s',
                $store['generation'],
                $this->age($store['published_at']),
                ($store['file_bytes'] ?? 0) / 1e6,
                $store['seconds'] === null ? '' : sprintf(', in %.1f s', $store['seconds']),
            );
    }

    private function age(?int $at): string
    {
        return StatusReport::age($this->now - ($at ?? 0));
    }
}

/** What was ever pulled from the edge, what of it counts, and what waits or is lost. */
final readonly class PullReport
{
    private const string SUMS = <<<'SQL'
    SELECT sum(lists) AS lists, sum(impressions) AS impressions, sum(clicks) AS clicks, sum(late_impressions) AS late_impressions,
      sum(late_clicks) AS late_clicks, sum(settled_impressions) + sum(settled_clicks) AS settled,
      sum(counted_impressions) AS counted_impressions, sum(counted_clicks) AS counted_clicks
    FROM pull_regions
    SQL;

    /**
     * @param array{lists: int, impressions: int, clicks: int, late_impressions: int, late_clicks: int, settled: int, counted_impressions: float, counted_clicks: float} $sums
     * @param ?int $oldestUnsettled minute
     */
    private function __construct(
        private array $sums,
        private ?int $oldestUnsettled,
        private int $lostMinutes,
    ) {}

    /** Null when nothing was ever pulled. */
    public static function of(Database $database): ?self
    {
        if ($database->value('SELECT 1 FROM pull_regions') === null) {
            return null;
        }
        /** @var array{lists: int, impressions: int, clicks: int, late_impressions: int, late_clicks: int, settled: int, counted_impressions: float, counted_clicks: float} $sums */
        $sums = $database->row(self::SUMS);

        return new self(
            $sums,
            $database->number('SELECT min(minute) FROM pulled_counts'),
            $database->number('SELECT sum(lost_minutes) FROM pull_shards') ?? 0,
        );
    }

    /** @return array<string, mixed> */
    public function facts(): array
    {
        return [
            'lists' => $this->sums['lists'],
            'impressions' => $this->sums['impressions'],
            'clicks' => $this->sums['clicks'],
            'counted_impressions' => $this->sums['counted_impressions'],
            'counted_clicks' => $this->sums['counted_clicks'],
            'cut_share' => round($this->cutShare(), 6),
            'oldest_unsettled_at' =>
                $this->oldestUnsettled === null ? null : Rfc3339::format(60 * $this->oldestUnsettled),
            'late_impressions' => $this->sums['late_impressions'],
            'late_clicks' => $this->sums['late_clicks'],
            'lost_minutes' => $this->lostMinutes,
        ];
    }

    public function text(): string
    {
        $unsettled =
            $this->oldestUnsettled === null
                ? 'all settled'
                : 'not settled since ' . Rfc3339::format(60 * $this->oldestUnsettled);
        $late = $this->sums['late_impressions'] + $this->sums['late_clicks'];

        return sprintf(
            '%s impressions and %s clicks of %s lists; the ceiling cut %.1f %%; %s',
            number_format($this->sums['impressions']),
            number_format($this->sums['clicks']),
            number_format($this->sums['lists']),
            100 * $this->cutShare(),
            $unsettled,
        ) .
            ($late === 0 ? '' : '; ' . number_format($late) . ' too late') .
            ($this->lostMinutes === 0 ? '' : '; ' . number_format($this->lostMinutes) . ' minutes lost');
    }

    /** Of impressions and clicks whose minutes are settled. */
    private function cutShare(): float
    {
        $counted = $this->sums['counted_impressions'] + $this->sums['counted_clicks'];

        return $this->sums['settled'] === 0 ? 0.0 : max(0.0, 1 - $counted / $this->sums['settled']);
    }
}

/** When the last backup was made, and how the last one failed. */
final readonly class BackupReport
{
    private const string MADE = 'SELECT store, began_at, seconds, bytes FROM backups WHERE bytes IS NOT NULL ORDER BY id DESC LIMIT 1';
    private const string LAST = 'SELECT store, began_at, failure FROM backups ORDER BY id DESC LIMIT 1';

    /**
     * @param ?array{store: string, began_at: int, seconds: float, bytes: int} $made
     * @param ?array{store: string, began_at: int, failure: ?string} $failed the last one, unless it was made
     */
    private function __construct(private ?array $made, private ?array $failed, private int $now) {}

    /** @return ?self null when none was ever begun */
    public static function of(Database $database, int $now): ?self
    {
        /** @var ?array{store: string, began_at: int, failure: ?string} $last */
        $last = $database->row(self::LAST);
        /** @var ?array{store: string, began_at: int, seconds: float, bytes: int} $made */
        $made = $database->row(self::MADE);
        $failed = ($last['failure'] ?? null) === null ? null : $last;

        return $last === null ? null : new self($made, $failed, $now);
    }

    /** @return array<string, mixed> */
    public function facts(): array
    {
        return [
            'made' => $this->made === null ? null : Rfc3339::inRow($this->made),
            'failed' => $this->failed === null ? null : Rfc3339::inRow($this->failed),
        ];
    }

    public function text(): string
    {
        $made =
            $this->made === null
                ? 'none yet'
                : sprintf(
                    '%s ago, %.1f MB in %s',
                    StatusReport::age($this->now - $this->made['began_at']),
                    $this->made['bytes'] / 1e6,
                    $this->made['store'],
                );

        return $made .
            ($this->failed === null
                ? ''
                : "\n            failed " .
                    StatusReport::age($this->now - $this->failed['began_at']) .
                    " ago: {$this->failed['failure']}");
    }
}
