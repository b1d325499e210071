<?php

declare(strict_types=1);

namespace TrendVault\Writer\Cli;

use TrendVault\Writer\WriterException;

/** What the environment says, read once. .env.example explains every name. */
final readonly class Settings
{
    /** Names that settings had before, and what to do about each. */
    private const array RENAMED = [
        'DB_BUSY_TIMEOUT_MS' => 'DB_BUSY_TIMEOUT_SECONDS: rename it, and give seconds',
        'KEEP_GENERATIONS' =>
            'GENERATION_RETENTION_SECONDS: rename it, and give seconds instead of a number of generations',
        'LEAVE_AFTER_HOURS' => 'MAX_UNOBSERVED_HOURS: rename it',
        'YOUTUBE_DEADLINE_SECONDS' => 'YOUTUBE_TIMEOUT_SECONDS: rename it',
        'YOUTUBE_EVERY_SECONDS' => 'YOUTUBE_INTERVAL_SECONDS: rename it',
    ];

    /**
     * An answer is served fresh, then stale, then by a browser, and its reader needs some minutes before following its
     * `next`: 120 + 600 + 30 + 60 + 600 seconds, rounded up. A test holds it together with what the origin sends.
     */
    private const int GENERATION_RETENTION_SECONDS = 2700;

    /** @param array<string, string> $environment */
    private function __construct(
        private array $environment,
        public string $databasePath,
        /** @var list<string> what `cron` ingests */
        public array $sources,
        public int $demoSeed,
        /** How long a generation stays after the next one was published, so that a reader's pages hold together. */
        public int $generationRetentionSeconds,
        /** How long observations stay, and what was not observed since. */
        public int $keepDays,
        /** A video leaves the ranking when its region was observed for more hours without it. */
        public int $maxUnobservedHours,
        public int $busyTimeoutMilliseconds,
        /** The share of all looks that may go to ranks which were not earned, to learn from them. */
        public float $exploreShare,
        /** What reading one file of a spool folder may take. */
        public int $spoolFileTimeoutSeconds,
        /** Where cron leaves its metrics; null for nowhere. */
        public ?string $metricsFile,
    ) {}

    /**
     * @param array<string, string> $environment
     * @throws UsageError
     */
    public static function read(array $environment, ?string $databasePath): self
    {
        self::refuseRenamed($environment);

        return new self(
            $environment,
            databasePath: self::absolute(
                $databasePath ??
                    (self::text($environment, 'DB_PATH') ?? self::projectRoot() . '/data/trendvault.db'),
            ),
            sources: array_values(
                array_filter(array_map(trim(...), explode(',', $environment['SOURCES'] ?? ''))),
            ),
            demoSeed: self::integer($environment, 'DEMO_SEED', 1, 0, 4_294_967_295),
            generationRetentionSeconds: self::integer(
                $environment,
                'GENERATION_RETENTION_SECONDS',
                self::GENERATION_RETENTION_SECONDS,
                0,
                604_800,
            ),
            keepDays: self::integer($environment, 'KEEP_DAYS', 28, 1, 3650),
            maxUnobservedHours: self::integer($environment, 'MAX_UNOBSERVED_HOURS', 48, 1, 8760),
            busyTimeoutMilliseconds: (int) round(
                1000 * self::number($environment, 'DB_BUSY_TIMEOUT_SECONDS', 5, 0, 600),
            ),
            exploreShare: self::number($environment, 'EXPLORE_SHARE', 0.25, 0, 1),
            spoolFileTimeoutSeconds: self::integer(
                $environment,
                'SPOOL_FILE_TIMEOUT_SECONDS',
                300,
                1,
                86_400,
            ),
            metricsFile: self::text($environment, 'METRICS_FILE'),
        );
    }

    public static function projectRoot(): string
    {
        return dirname(__DIR__, 3);
    }

    /** Any other folder must exist, or a typing mistake would start an empty database. */
    public function makeDefaultFolder(): void
    {
        $folder = dirname($this->databasePath);
        if ($folder === self::projectRoot() . '/data' && !is_dir($folder)) {
            mkdir($folder, 0o755);
        }
    }

    public function migrationsFolder(): string
    {
        return self::projectRoot() . '/db/migrations';
    }

    /** Of the regions that there are: those of the deployment, or those that come with the program. */
    public function regionsFile(): string
    {
        $own = $this->sourceText('REGIONS_FILE');

        return $own === null ? self::projectRoot() . '/db/regions.json' : self::absolute($own);
    }

    /** Where rejected lines go. */
    public function rejectedFolder(): string
    {
        return dirname($this->databasePath) . '/rejected';
    }

    /** A setting that only one source reads; null when it is missing or empty. */
    public function sourceText(string $name): ?string
    {
        return self::text($this->environment, $name);
    }

    /** @throws UsageError */
    public function sourceInteger(string $name, int $default, int $least, int $most): int
    {
        return self::integer($this->environment, $name, $default, $least, $most);
    }

    /** @throws UsageError */
    public function sourceNumber(string $name, float $default, int $least, int $most): float
    {
        return self::number($this->environment, $name, $default, $least, $most);
    }

    /** @param array<string, string> $environment */
    private static function refuseRenamed(array $environment): void
    {
        foreach (self::RENAMED as $name => $advice) {
            if (self::text($environment, $name) !== null) {
                throw UsageError::because("$name is now $advice.");
            }
        }
    }

    /** @param array<string, string> $environment */
    private static function text(array $environment, string $name): ?string
    {
        $value = $environment[$name] ?? '';

        return $value === '' ? null : $value;
    }

    /** @param array<string, string> $environment */
    private static function integer(
        array $environment,
        string $name,
        int $default,
        int $least,
        int $most,
    ): int {
        $value = self::text($environment, $name) ?? (string) $default;
        $number = filter_var($value, FILTER_VALIDATE_INT, [
            'options' => ['min_range' => $least, 'max_range' => $most],
        ]);

        return $number === false
            ? throw UsageError::setting(
                $name,
                $value,
                "a whole number from $least to $most, for example $default",
            )
            : $number;
    }

    /** @param array<string, string> $environment */
    private static function number(
        array $environment,
        string $name,
        float $default,
        int $least,
        int $most,
    ): float {
        $value = self::text($environment, $name) ?? (string) $default;
        $number = filter_var($value, FILTER_VALIDATE_FLOAT, [
            'options' => ['min_range' => $least, 'max_range' => $most],
        ]);

        return $number === false
            ? throw UsageError::setting($name, $value, "a number from $least to $most, for example $default")
            : $number;
    }

    private static function absolute(string $path): string
    {
        return str_starts_with($path, '/') ? $path : getcwd() . "/$path";
    }
}

final class UsageError extends WriterException
{
    public static function setting(string $name, string $value, string $expected): self
    {
        return self::because("Cannot read $name=$value: expected $expected.");
    }

    public static function because(string $sentence): self
    {
        return new self($sentence);
    }
}
