<?php

declare(strict_types=1);

namespace TrendVault\Writer\Status;

use TrendVault\Writer\Database\Database;
use TrendVault\Writer\Database\RegionShare;
use TrendVault\Writer\Database\RemovalKind;
use TrendVault\Writer\Database\Removals;
use TrendVault\Writer\Ranking\RankingPublisher;
use TrendVault\Writer\Sources\Pause;

/** The state of a database, as text and as JSON. Only reads. */
final readonly class StatusReport
{
    private const int REJECTIONS_PERIOD_SECONDS = 86_400;

    private const string REJECTIONS = <<<'SQL'
    SELECT reason, sum(line_count) AS lines FROM rejections JOIN runs ON runs.id = run_id
    WHERE started_at >= ? GROUP BY reason ORDER BY lines DESC, reason
    SQL;

    private const int FUTURE_SECONDS = RankingPublisher::CLOCK_TOLERANCE_SECONDS;
    private const string LAST_CHECK = 'SELECT checked_at, result, detail FROM checks ORDER BY id DESC LIMIT 1';

    /**
     * @param ?array<string, mixed> $lastRun
     * @param ?array<string, mixed> $generation
     * @param array<string, int> $rejections by reason
     * @param array{videos: int, channels: int} $removals
     * @param ?array{checked_at: int, result: string, detail: ?string} $lastCheck
     * @param ?int $oldestObservedAt UTC seconds
     * @param int $futureVideos velocities whose newest observation is of the future: they do not rank
     * @param array<int, string> $exitCodeLabels
     */
    private function __construct(
        private int $now,
        private string $path,
        private ?array $lastRun,
        private ?array $generation,
        private RegionReport $regions,
        private array $rejections,
        private array $removals,
        private ?array $lastCheck,
        private ?int $oldestObservedAt,
        private int $futureVideos,
        private array $exitCodeLabels,
        private ?Pause $youTubePause,
        private InstanceReport $instances,
        private ?PullReport $pull,
        private PublicationReport $publications,
        private ?BackupReport $backups,
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
        ?Pause $pause,
        ?RegionShare $share = null,
    ): self {
        return new self(
            $now,
            $path,
            $database->rows('SELECT * FROM runs ORDER BY id DESC LIMIT 1')[0] ?? null,
            $database->rows('SELECT * FROM generations ORDER BY id DESC LIMIT 1')[0] ?? null,
            RegionReport::of($database, $now, $share),
            array_column(
                $database->rows(self::REJECTIONS, [$now - self::REJECTIONS_PERIOD_SECONDS]),
                'lines',
                'reason',
            ),
            array_map(new Removals($database)->count(...), [
                'videos' => RemovalKind::Video,
                'channels' => RemovalKind::Channel,
            ]),
            $database->rows(self::LAST_CHECK)[0] ?? null,
            $database->value('SELECT min(observed_at) FROM observations'),
            $database->value('SELECT count(*) FROM velocity WHERE last_observed_at > ?', [
                $now + self::FUTURE_SECONDS,
            ]),
            $labels,
            $pause,
            InstanceReport::of($database, $now),
            PullReport::of($database),
            PublicationReport::of($database, $now),
            BackupReport::of($database, $now),
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
                'last_run' => $this->lastRun === null ? null : ReadableTime::inRow($this->lastRun),
                'generation' =>
                    $this->generation === null
                        ? null
                        : [
                            ...ReadableTime::inRow($this->generation),
                            'age_seconds' => $this->generationAgeSeconds(),
                        ],
                ...$this->regions->facts(),
                'rejected_last_day' => (object) $this->rejections,
                'removed' => $this->removals,
                'last_check' => $this->lastCheck === null ? null : ReadableTime::inRow($this->lastCheck),
                ...ReadableTime::inRow(['oldest_observed_at' => $this->oldestObservedAt]),
                'future_videos' => $this->futureVideos,
                'youtube_pause' => $this->youTubePause?->facts(),
                'peertube_pauses' => $this->instances->facts(),
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
        $size = sprintf('%.1f MB, WAL %.1f MB', filesize($this->path) / 1e6, $this->walBytes() / 1e6);
        $lines = [
            "Database    $this->path ($size)",
            'Last run    ' . $this->runText(),
            'Generation  ' . $this->generationText(),
            ...$this->regions->ranked(),
            'Rejected    ' .
            ($this->rejections === []
                ? 'no line in the last day'
                : 'in the last day: ' . $this->rejectionsText()),
            "Removed     {$this->removals['videos']} videos, {$this->removals['channels']} channels",
            'Checked     ' . $this->checkText(),
            'History     ' . $this->historyText(),
            ...$this->youTubePause === null ? [] : ["YouTube     {$this->youTubePause->text()}"],
            ...$this->instances->lines(),
            ...$this->pull === null ? [] : ["Pulled      {$this->pull->text()}"],
            ...$this->publications->lines(),
            ...$this->backups === null ? [] : ["Backup      {$this->backups->text()}"],
            '',
            ...$this->regions->lines(),
        ];

        return implode("\n", $lines) . "\n";
    }

    private function generationText(): string
    {
        if ($this->generation === null) {
            return 'none yet';
        }
        ['id' => $id, 'video_count' => $videos, 'formula' => $formula] = $this->generation;
        $age = ReadableTime::age((int) $this->generationAgeSeconds());

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
            ReadableTime::age($this->now - $started) .
            " ago: $result" .
            ($error === null ? '' : "\n            $error");
    }

    private function checkText(): string
    {
        if ($this->lastCheck === null) {
            return 'never';
        }
        ['checked_at' => $checkedAt, 'result' => $result, 'detail' => $detail] = $this->lastCheck;

        return ReadableTime::age($this->now - $checkedAt) .
            " ago: $result" .
            ($detail === null ? '' : ", $detail");
    }

    private function historyText(): string
    {
        $since =
            $this->oldestObservedAt === null
                ? 'none yet'
                : ReadableTime::age($this->now - $this->oldestObservedAt);
        $future = number_format($this->futureVideos);

        return $since .
            ($this->futureVideos === 0
                ? ''
                : "; $future videos do not rank, their newest observation is of the future: run `writer repair`");
    }

    private function rejectionsText(): string
    {
        return implode(
            ', ',
            array_map(
                static fn(string $reason, int $lines): string => number_format($lines) . " $reason",
                array_keys($this->rejections),
                $this->rejections,
            ),
        );
    }

    private function walBytes(): int
    {
        return is_file("$this->path-wal") ? (int) filesize("$this->path-wal") : 0;
    }
}
