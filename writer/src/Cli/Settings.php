<?php

declare(strict_types=1);

namespace TrendVault\Writer\Cli;

use TrendVault\Writer\Database\Database;
use TrendVault\Writer\Database\RegionTable;
use TrendVault\Writer\WriterException;

/** What the environment says, read once. .env.example explains every name. */
final class Settings
{
    /**
     * Messages about the ranks of a list are taken for 2,580 seconds (viewsAcceptedSeconds in contract/lists.ts), and its
     * next page may be asked for as long. A test compares.
     */
    private const float GENERATION_RETENTION_HOURS = 0.75;

    private const int MOST_FILE_BYTES = 65_536;
    private const int ANY_RIGHT_OF_OTHERS = 0o007;

    /** Once it was read. */
    private ?RegionTable $regionTable = null;

    /** @param array<string, string> $environment */
    private function __construct(
        private readonly array $environment,
        public readonly string $databasePath,
        /** @var list<string> what `cron` ingests */
        public readonly array $sources,
        /** How long a generation stays after the next one was published, so that a reader's pages hold together. */
        public readonly int $generationRetentionSeconds,
        /** How long observations stay, and what was not observed since. */
        public readonly int $observationRetentionHours,
        /** The share of all impressions that may go to ranks which were not earned, to learn from them. */
        public readonly float $exploreShare,
        /** Where cron leaves its metrics; null for nowhere. */
        public readonly ?string $metricsFile,
    ) {}

    /**
     * @param array<string, string> $environment
     * @throws WriterException
     */
    public static function read(array $environment, ?string $databasePath): self
    {
        return new self(
            $environment,
            databasePath: self::absolute(
                $databasePath ??
                    (self::text($environment, 'DB_PATH') ?? self::projectRoot() . '/data/trendvault.db'),
            ),
            sources: array_values(
                array_filter(array_map(trim(...), explode(',', $environment['SOURCES'] ?? ''))),
            ),
            generationRetentionSeconds: (int) round(
                3600 *
                    self::number(
                        $environment,
                        'GENERATION_RETENTION_HOURS',
                        self::GENERATION_RETENTION_HOURS,
                        0,
                        168,
                    ),
            ),
            observationRetentionHours: self::integer(
                $environment,
                'OBSERVATION_RETENTION_HOURS',
                672,
                24,
                87_600,
            ),
            exploreShare: self::number($environment, 'EXPLORE_SHARE', 0.25, 0, 1),
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

    /**
     * All regions of the deployment.
     *
     * @throws WriterException
     */
    public function regionTable(): RegionTable
    {
        if ($this->regionTable !== null) {
            return $this->regionTable;
        }
        $own = $this->sourceText('REGIONS_FILE');
        $file = $own === null ? self::projectRoot() . '/db/regions.json' : self::absolute($own);
        $text =
            Database::textOfOther($file, self::MOST_FILE_BYTES) ??
            throw WriterException::setting('REGIONS_FILE', $file, 'a file that this user can read');
        if (strlen($text) > self::MOST_FILE_BYTES) {
            throw WriterException::setting(
                'REGIONS_FILE',
                $file,
                'a file of at most ' . self::MOST_FILE_BYTES . ' bytes',
            );
        }
        try {
            return $this->regionTable = RegionTable::read($text);
        } catch (WriterException $bad) {
            throw WriterException::usage("Cannot read REGIONS_FILE=$file:\n{$bad->getMessage()}");
        }
    }

    /**
     * Those of this writer: without REGIONS, all.
     *
     * @throws WriterException
     */
    public function regions(): RegionTable
    {
        $table = $this->regionTable();
        $text = $this->sourceText('REGIONS');
        if ($text === null) {
            return $table;
        }
        $known = $table->codes();
        $named = array_map(trim(...), explode(',', $text));
        $file = $this->sourceText('REGIONS_FILE') ?? 'db/regions.json';
        $expected =
            "codes of $file, each once, with a comma between, for example " .
            implode(',', array_slice($known, 0, 2)) .
            '. The codes are ' .
            implode(', ', $known);

        return array_diff($named, $known) !== [] || count(array_unique($named)) !== count($named)
            ? throw WriterException::setting('REGIONS', $text, self::regionFault($named, $known) . $expected)
            : $table->ofWriter($named);
    }

    /** What editors decide; null when there is no such file. */
    public function editorialFile(): ?string
    {
        $file = $this->sourceText('EDITORIAL_FILE');

        return $file === null ? null : self::absolute($file);
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

    /** @throws WriterException */
    public function sourceInteger(string $name, int $default, int $least, int $most): int
    {
        return self::integer($this->environment, $name, $default, $least, $most);
    }

    /** @throws WriterException */
    public function sourceNumber(string $name, float $default, int $least, int $most): float
    {
        return self::number($this->environment, $name, $default, $least, $most);
    }

    /**
     * A setting that is a secret, or `file:PATH` of a regular file that not every user can open.
     *
     * @return ?string null when it is missing or empty
     * @throws WriterException that does not quote the secret
     */
    public function secret(string $name): ?string
    {
        $value = $this->sourceText($name);
        if ($value === null || !str_starts_with($value, 'file:')) {
            return $value;
        }
        $path = substr($value, strlen('file:'));
        $isDatabase = Database::hasOpen(@stat($path));
        $text = trim((string) Database::textOfOther($path, self::MOST_FILE_BYTES));
        $refusal = match (true) {
            !is_file($path) => 'it is missing, or not a regular file',
            $isDatabase => 'it is the database',
            (fileperms($path) & self::ANY_RIGHT_OF_OTHERS) !== 0
                => "it is open to every user: chmod o= $path",
            (int) filesize($path) > self::MOST_FILE_BYTES => 'it has more than ' .
                self::MOST_FILE_BYTES .
                ' bytes',
            !is_readable($path) => 'permission denied',
            $text === '' => 'it is empty',
            default => null,
        };

        return $refusal === null
            ? $text
            : throw WriterException::usage("Cannot read $name=$value: $refusal.");
    }

    /**
     * What a source may take: all requests of a run, a download, a file of a spool folder.
     *
     * @param int $default of the kind of source
     * @throws WriterException
     */
    public function sourceTimeoutSeconds(int $default): int
    {
        return $this->sourceInteger('SOURCE_TIMEOUT_SECONDS', $default, 1, 3600);
    }

    /**
     * How often a platform is asked.
     *
     * @param int $default of the platform
     * @throws WriterException
     */
    public function sourceIntervalSeconds(int $default): int
    {
        return $this->sourceInteger('SOURCE_INTERVAL_SECONDS', $default, 0, 86_400);
    }

    /**
     * @param list<string> $named
     * @param list<string> $known
     */
    private static function regionFault(array $named, array $known): string
    {
        $unknown = array_values(array_diff($named, $known));

        return match (true) {
            in_array('', $named, true) => 'no empty entry, but ',
            $unknown !== [] => "not $unknown[0], but ",
            default => 'not ' .
                (string) array_search(max(array_count_values($named)), array_count_values($named), true) .
                ' twice, but ',
        };
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
        $whole = [FILTER_VALIDATE_INT, 'a whole number'];

        return (int) self::number($environment, $name, $default, $least, $most, $whole);
    }

    /**
     * @param array<string, string> $environment
     * @param array{int, string} $kind the filter of PHP, and its words
     */
    private static function number(
        array $environment,
        string $name,
        float $default,
        int $least,
        int $most,
        array $kind = [FILTER_VALIDATE_FLOAT, 'a number'],
    ): float {
        $value = self::text($environment, $name) ?? (string) $default;
        $number = filter_var($value, $kind[0], [
            'options' => ['min_range' => $least, 'max_range' => $most],
        ]);

        return is_int($number) || is_float($number)
            ? $number
            : throw WriterException::setting(
                $name,
                $value,
                "$kind[1] from $least to $most, for example $default",
            );
    }

    private static function absolute(string $path): string
    {
        return str_starts_with($path, '/') ? $path : (string) getcwd() . "/$path";
    }
}
