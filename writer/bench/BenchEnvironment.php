<?php

declare(strict_types=1);

namespace TrendVault\Writer\Bench;

use RuntimeException;

/** A database in a temporary folder, and the real program to run on it. */
final class BenchEnvironment
{
    private const string PROGRAM = __DIR__ . '/../bin/writer';

    public readonly string $folder;
    public readonly string $database;

    public function __construct()
    {
        $this->folder = sys_get_temp_dir() . '/writer-bench-' . bin2hex(random_bytes(4));
        $this->database = "$this->folder/bench.db";
        mkdir($this->folder);
        $this->run(['migrate']);
    }

    public function __destruct()
    {
        array_map(unlink(...), array_filter(glob("$this->folder/*") ?: [], is_file(...)));
        @rmdir("$this->folder/rejected");
        rmdir($this->folder);
    }

    /**
     * Runs the writer and measures the process.
     *
     * @param list<string> $words
     * @param array<string, string> $environment
     */
    public function run(array $words, array $environment = []): ProcessUsage
    {
        $log = "$this->folder/log";
        $started = hrtime(true);
        $process = pcntl_fork();
        if ($process === 0) {
            fclose(STDERR);
            $GLOBALS['stderr'] = fopen($log, 'wb'); // The lowest free descriptor, which is 2.
            pcntl_exec(self::PROGRAM, $words, [
                'DB_PATH' => $this->database,
                'PATH' => (string) getenv('PATH'),
                ...$environment,
            ]);
            exit(70);
        }
        pcntl_waitpid($process, $status, 0, $usage);
        if (pcntl_wexitstatus($status) !== 0) {
            throw new RuntimeException(
                'writer ' . implode(' ', $words) . ' failed: ' . file_get_contents($log),
            );
        }

        return new ProcessUsage(
            (hrtime(true) - $started) / 1e9,
            $usage['ru_utime.tv_sec'] +
                $usage['ru_stime.tv_sec'] +
                ($usage['ru_utime.tv_usec'] + $usage['ru_stime.tv_usec']) / 1e6,
            $usage['ru_maxrss'] / 1024,
            self::steps($log),
        );
    }

    public function walMegabytes(): float
    {
        clearstatcache();

        return is_file("$this->database-wal") ? filesize("$this->database-wal") / 1e6 : 0.0;
    }

    /** @return array<string, float> */
    private static function steps(string $log): array
    {
        $steps = [];
        foreach (file($log) ?: [] as $line) {
            $event = json_decode($line, true, flags: JSON_THROW_ON_ERROR);
            $steps[$event['event']] = ($steps[$event['event']] ?? 0.0) + ($event['seconds'] ?? 0.0);
        }

        return $steps;
    }
}
