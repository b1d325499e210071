<?php

declare(strict_types=1);

namespace TrendVault\Writer\Status;

use TrendVault\Writer\Database\Database;
use TrendVault\Writer\Database\RemovalKind;
use TrendVault\Writer\Database\Removals;
use TrendVault\Writer\Time\Rfc3339;

/** The state of a database, as text and as JSON. Only reads. */
final readonly class StatusReport
{
    private const int REJECTIONS_PERIOD_SECONDS = 86_400;

    private const string REGIONS = <<<'SQL'
    SELECT r.code AS region, count(y.video_id) AS videos, max(y.last_observed_at) AS newest_observed_at
    FROM regions AS r LEFT JOIN velocity AS y ON y.region = r.code GROUP BY r.code ORDER BY r.code
    SQL;
    private const string REJECTIONS = <<<'SQL'
    SELECT reason, sum(line_count) AS lines FROM rejections JOIN runs ON runs.id = run_id
    WHERE started_at >= ? GROUP BY reason ORDER BY lines DESC, reason
    SQL;

    /**
     * @param ?array<string, mixed> $lastRun
     * @param ?array<string, mixed> $generation
     * @param list<array<string, mixed>> $regions
     * @param array<string, int> $rejections by reason
     * @param array{videos: int, channels: int} $removals
     * @param array<int, string> $exitCodeLabels
     */
    private function __construct(
        private int $now,
        private string $path,
        private ?array $lastRun,
        private ?array $generation,
        private array $regions,
        private array $rejections,
        private array $removals,
        private array $exitCodeLabels,
    ) {}

    /**
     * @param int $now UTC seconds
     * @param array<int, string> $exitCodeLabels what each exit code is called
     */
    public static function of(Database $database, string $path, int $now, array $exitCodeLabels): self
    {
        return new self(
            $now,
            $path,
            $database->rows('SELECT * FROM runs ORDER BY id DESC LIMIT 1')[0] ?? null,
            $database->rows('SELECT * FROM generations ORDER BY id DESC LIMIT 1')[0] ?? null,
            $database->rows(self::REGIONS),
            array_column(
                $database->rows(self::REJECTIONS, [$now - self::REJECTIONS_PERIOD_SECONDS]),
                'lines',
                'reason',
            ),
            array_map(new Removals($database)->count(...), [
                'videos' => RemovalKind::Video,
                'channels' => RemovalKind::Channel,
            ]),
            $exitCodeLabels,
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
                'last_run' => $this->lastRun === null ? null : self::readable($this->lastRun),
                'generation' =>
                    $this->generation === null
                        ? null
                        : [
                            ...self::readable($this->generation),
                            'age_seconds' => $this->generationAgeSeconds(),
                        ],
                'regions' => array_map(
                    fn(array $region): array => [
                        ...self::readable($region),
                        'age_seconds' =>
                            $region['newest_observed_at'] === null
                                ? null
                                : $this->now - $region['newest_observed_at'],
                    ],
                    $this->regions,
                ),
                'rejected_last_day' => (object) $this->rejections,
                'removed' => $this->removals,
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
            'Generation  ' .
            ($this->generation === null
                ? 'none yet'
                : "{$this->generation['id']}, {$this->age(
                    $this->generationAgeSeconds(),
                )} old, {$this->generation['video_count']} videos, {$this->generation['formula']}"),
            'Rejected    ' .
            ($this->rejections === []
                ? 'no line in the last day'
                : 'in the last day: ' . $this->rejectionsText()),
            "Removed     {$this->removals['videos']} videos, {$this->removals['channels']} channels",
            '',
            'Region   Videos  Newest observation',
        ];
        foreach (
            $this->regions
            as ['region' => $region, 'videos' => $videos, 'newest_observed_at' => $newest]
        ) {
            $lines[] = sprintf(
                '%-6s %8d  %s',
                $region,
                $videos,
                $newest === null ? 'never' : $this->age($this->now - $newest) . ' ago',
            );
        }

        return implode("\n", $lines) . "\n";
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

        return "$command, {$this->age($this->now - $started)} ago: $result" .
            ($error === null ? '' : "\n            $error");
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

    private function age(int $seconds): string
    {
        return match (true) {
            $seconds < 120 => "$seconds s",
            $seconds < 7200 => intdiv($seconds, 60) . ' min',
            $seconds < 172_800 => intdiv($seconds, 3600) . ' h',
            default => intdiv($seconds, 86_400) . ' days',
        };
    }

    /**
     * @param array<string, mixed> $row
     * @return array<string, mixed> with times as text
     */
    private static function readable(array $row): array
    {
        foreach ($row as $name => $value) {
            $row[$name] = str_ends_with($name, '_at') && $value !== null ? Rfc3339::format($value) : $value;
        }

        return $row;
    }
}
