<?php

declare(strict_types=1);

namespace TrendVault\Writer\Tests\Support;

use RuntimeException;
use TrendVault\Writer\ExitCode;

/** A real process with its streams in temporary files, so that nothing it writes can block it. */
final class Process
{
    private const int POLL_MICROSECONDS = 200;
    private const int POLL_FOR_END_MICROSECONDS = 1000;
    /** No run of a test takes a tenth of it, however busy the machine is. */
    private const int MOST_SECONDS = 600;

    /** @var resource */
    private mixed $process;
    /** @var resource */
    private mixed $output;
    /** @var resource */
    private mixed $errors;

    /**
     * @param list<string> $command
     * @param array<string, string> $environment
     */
    public function __construct(array $command, array $environment, string $input = '')
    {
        [$in, $this->output, $this->errors] = [tmpfile(), tmpfile(), tmpfile()];
        fwrite($in, $input);
        rewind($in);
        $this->process = proc_open($command, [$in, $this->output, $this->errors], $pipes, null, [
            'PATH' => (string) getenv('PATH'),
            ...$environment,
        ]);
    }

    public function id(): int
    {
        return proc_get_status($this->process)['pid'];
    }

    public function isRunning(): bool
    {
        return proc_get_status($this->process)['running'];
    }

    public function kill(): void
    {
        proc_terminate($this->process, SIGKILL);
        proc_close($this->process);
    }

    /**
     * Kills the process once it has used this much CPU time, unless it ends before. CPU time, unlike the time of a
     * clock, says how far the process is whatever else the machine does.
     */
    public function killAtCpuTime(int $nanoseconds): void
    {
        while ($this->isRunning() && $this->cpuNanoseconds() < $nanoseconds) {
            usleep(self::POLL_MICROSECONDS);
        }
        $this->kill();
    }

    /** @throws RuntimeException when it does not end */
    public function wait(): ProcessResult
    {
        for ($end = hrtime(true) + self::MOST_SECONDS * 1_000_000_000; $this->isRunning(); ) {
            if (hrtime(true) > $end) {
                $this->kill();
                throw new RuntimeException('it did not end: ' . $this->read($this->errors));
            }
            usleep(self::POLL_FOR_END_MICROSECONDS);
        }
        $exitCode = proc_close($this->process);

        return new ProcessResult(
            ExitCode::from($exitCode),
            $this->read($this->output),
            $this->read($this->errors),
        );
    }

    /** What all processes that have ended used: user and system time. */
    public static function cpuNanosecondsOfChildren(): int
    {
        $usage = getrusage(mode: 1);

        return ($usage['ru_utime.tv_sec'] + $usage['ru_stime.tv_sec']) * 1_000_000_000 +
            ($usage['ru_utime.tv_usec'] + $usage['ru_stime.tv_usec']) * 1000;
    }

    /** proc(5): the first number of schedstat. */
    private function cpuNanoseconds(): int
    {
        return (int) @file_get_contents("/proc/{$this->id()}/schedstat");
    }

    /** @param resource $file */
    private function read(mixed $file): string
    {
        rewind($file);

        return (string) stream_get_contents($file);
    }
}

/** What a writer process left behind. */
final readonly class ProcessResult
{
    public function __construct(public ExitCode $exitCode, public string $output, public string $errors) {}

    /** @return list<array<string, mixed>> what was logged as this event */
    public function events(string $name): array
    {
        $lines = array_map(
            static fn(string $line): array => json_decode($line, true, flags: JSON_THROW_ON_ERROR),
            array_filter(explode("\n", $this->errors)),
        );

        return array_values(array_filter($lines, static fn(array $line): bool => $line['event'] === $name));
    }

    public function message(string $event = 'failed'): string
    {
        return implode("\n", array_column($this->events($event), 'message'));
    }
}
