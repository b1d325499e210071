<?php

declare(strict_types=1);

namespace TrendVault\Writer\Bench;

use SQLite3;

/** The figures that the writer promises. Each scenario has a database of its own. */
final class Scenarios
{
    public const array NAMES = ['ingest', 'cron', 'history', 'videos', 'wal'];

    private const int VIDEOS = 50_000;
    private const int LAST_MINUTE_AGO = 120;
    private const int RUNS_OF_AN_HOUR = 60;
    private const int LINES_PER_SECOND = 60_000;
    private const float CRON_SECONDS = 2.0;

    /** @var list<array{what: string, figure: string, target: string, met: ?bool}> */
    private array $figures = [];

    /**
     * @param list<string> $names
     * @return list<array{what: string, figure: string, target: string, met: ?bool}>
     */
    public function run(array $names): array
    {
        foreach ($names as $name) {
            fwrite(STDERR, "bench: $name\n");
            match ($name) {
                'ingest' => $this->ingest(),
                'cron' => $this->cron(),
                'history' => $this->history(),
                'videos' => $this->videos(),
                'wal' => $this->wal(),
            };
        }

        return $this->figures;
    }

    private function ingest(): void
    {
        foreach ([2, 10] as $minutes) {
            $environment = new BenchEnvironment();
            $file = self::file($environment, self::VIDEOS, $minutes, 0);
            $measured = $environment->run(['ingest', $file]);
            $lines = self::VIDEOS * $minutes;
            $this->atLeast(
                "ingest $lines lines, observations a second",
                $lines / $measured->wallSeconds,
                self::LINES_PER_SECOND,
            );
            $this->atLeast('the same in CPU time', $lines / $measured->cpuSeconds, self::LINES_PER_SECOND);
            $this->atMost('its peak memory, MB', $measured->peakMegabytes, 64);
        }
    }

    private function cron(): void
    {
        $measured = self::freshMinute(self::VIDEOS, minutesBefore: 4);
        $this->atMost('cron with 50,000 fresh observations, s', $measured->wallSeconds, self::CRON_SECONDS);
        $this->atMost('the same in CPU time, s', $measured->cpuSeconds, self::CRON_SECONDS);
        $this->atMost('its rank and publish, s', $measured->steps['published'], self::CRON_SECONDS / 2);
    }

    private function history(): void
    {
        $little = self::freshMinute(self::VIDEOS, minutesBefore: 3);
        $much = self::freshMinute(self::VIDEOS, minutesBefore: 30);
        $this->atMost(
            'cron with ten times the history, times as slow (CPU)',
            $much->cpuSeconds / $little->cpuSeconds,
            1.2,
        );
    }

    private function videos(): void
    {
        $few = self::freshMinute(self::VIDEOS, minutesBefore: 2);
        $many = self::freshMinute(10 * self::VIDEOS, minutesBefore: 2);
        $this->atMost(
            'cron with 500,000 videos, times as slow (CPU)',
            $many->cpuSeconds / $few->cpuSeconds,
            12,
        );
        $this->note('cron with 500,000 videos, s', $many->wallSeconds);
        $this->note('its peak memory, MB', $many->peakMegabytes);
    }

    /** Sixty runs of the demo without a pause, while a reader reads all the time. */
    private function wal(): void
    {
        $environment = new BenchEnvironment();
        $environment->run(['ingest', 'demo']);
        $reader = self::startReader($environment->database);
        $largest = 0.0;
        for ($run = 0; $run < self::RUNS_OF_AN_HOUR; $run++) {
            $environment->run(['cron'], ['SOURCES' => 'demo']);
            $largest = max($largest, $environment->walMegabytes());
        }
        posix_kill($reader, SIGKILL);
        pcntl_waitpid($reader, $status);
        $environment->run(['cron'], ['SOURCES' => 'demo']);
        $this->atMost('WAL after each of 60 runs with a reader, MB', $largest, 64);
        $this->atMost('WAL when the reader pauses, MB', $environment->walMegabytes(), 0);
    }

    /**
     * Reads a list in short transactions, as the origin does, until it is killed.
     *
     * @return int process id
     */
    private static function startReader(string $path): int
    {
        $process = pcntl_fork();
        if ($process !== 0) {
            return $process;
        }
        $database = new SQLite3($path, SQLITE3_OPEN_READONLY);
        $database->busyTimeout(1000);
        while (true) {
            $result = $database->query(
                "SELECT * FROM trending WHERE generation = (SELECT max(id) FROM generations) AND region = 'GB' AND window = 'day' AND category = ''",
            );
            while ($result->fetchArray() !== false) {
                usleep(20);
            }
            $result->finalize();
        }
    }

    /** As each minute of a day: the run also deletes the ranks of an old generation. */
    private static function freshMinute(int $videos, int $minutesBefore): ProcessUsage
    {
        $environment = new BenchEnvironment();
        $environment->run(['ingest', self::file($environment, $videos, $minutesBefore, 1)]);
        $environment->run(['rank']);
        $environment->run(['rank']);

        return $environment->run(
            ['cron'],
            [
                'SOURCES' => self::file($environment, $videos, 1, 0),
                'GENERATION_RETENTION_SECONDS' => '0',
            ],
        );
    }

    /** @param int $minutesLater how many minutes come after these */
    private static function file(
        BenchEnvironment $environment,
        int $videos,
        int $minutes,
        int $minutesLater,
    ): string {
        $path = "$environment->folder/views.ndjson";
        ObservationFile::write(
            $path,
            $videos,
            $minutes,
            time() - self::LAST_MINUTE_AGO - 60 * ($minutes - 1 + $minutesLater),
        );

        return $path;
    }

    private function atLeast(string $what, float $figure, float $target): void
    {
        $this->figures[] = [
            'what' => $what,
            'figure' => self::number($figure),
            'target' => 'at least ' . self::number($target),
            'met' => $figure >= $target,
        ];
    }

    private function atMost(string $what, float $figure, float $target): void
    {
        $this->figures[] = [
            'what' => $what,
            'figure' => self::number($figure),
            'target' => 'at most ' . self::number($target),
            'met' => $figure <= $target,
        ];
    }

    private function note(string $what, float $figure): void
    {
        $this->figures[] = [
            'what' => $what,
            'figure' => self::number($figure),
            'target' => '',
            'met' => null,
        ];
    }

    private static function number(float $number): string
    {
        return number_format($number, $number >= 100 || $number === 0.0 ? 0 : 2);
    }
}
