<?php

declare(strict_types=1);

namespace TrendVault\Writer\Publication;

use TrendVault\Writer\Store\Deadline;
use TrendVault\Writer\Store\StoreFailure;

/** Runs RENDER_COMMAND, without a shell: the origin's own code makes a bundle of documents from a generation file. */
final readonly class Renderer
{
    /** What it needs none of. */
    private const string OUR_SECRETS = '/^(S3_|PUBLISH_SIGNING_KEY|VIEWS_KEYS|YOUTUBE_API_KEY|HTTP_SOURCE_AUTHORIZATION)/';
    private const int POLL_MICROSECONDS = 20_000;
    private const int MOST_OUTPUT_BYTES = 4096;

    /** @param list<string> $command */
    public function __construct(private array $command) {}

    /**
     * @param string $database the path of the generation file
     * @param string $output the path of the bundle
     * @throws StoreFailure
     */
    public function render(string $database, string $output, Deadline $deadline): RenderedBundle
    {
        [$said, $complaints] = [tmpfile(), tmpfile()];
        $process =
            $said === false || $complaints === false
                ? false
                : @proc_open(
                    [...$this->command, '--database', $database, '--output', $output],
                    [['file', '/dev/null', 'r'], $said, $complaints],
                    $pipes,
                    env_vars: self::environment(),
                );
        if ($process === false) {
            throw $this->failure('it cannot be started');
        }
        $exitCode = self::wait($process, $deadline);
        if ($exitCode !== 0) {
            throw $this->failure(
                $exitCode === null
                    ? "it took longer than PUBLISH_TIMEOUT_SECONDS=$deadline->seconds"
                    : "it ended with exit code $exitCode: " . self::lastLine($complaints),
            );
        }

        return RenderedBundle::read(self::lastLine($said)) ??
            throw $this->failure('its last line of output does not describe a bundle');
    }

    private function failure(string $reason): StoreFailure
    {
        return StoreFailure::because(
            "No bundle was published: RENDER_COMMAND ({$this->command[0]} …) failed: $reason. The generation itself is published; the next run tries again.",
        );
    }

    /**
     * @param resource $process
     * @return ?int its exit code; null when it was killed at the deadline
     */
    private static function wait(mixed $process, Deadline $deadline): ?int
    {
        $status = proc_get_status($process);
        while ($status['running'] && $deadline->secondsLeft() > 0) {
            usleep(self::POLL_MICROSECONDS);
            $status = proc_get_status($process);
        }
        if ($status['running']) {
            proc_terminate($process, SIGKILL);
        }
        proc_close($process);

        return $status['running'] ? null : $status['exitcode'];
    }

    /** @return array<string, string> */
    private static function environment(): array
    {
        return array_filter(
            getenv(),
            static fn(string $name): bool => preg_match(self::OUR_SECRETS, $name) !== 1,
            ARRAY_FILTER_USE_KEY,
        );
    }

    /** @param resource $file */
    private static function lastLine(mixed $file): string
    {
        fseek($file, max(0, fstat($file)['size'] - self::MOST_OUTPUT_BYTES));
        $lines = explode("\n", trim((string) stream_get_contents($file)));

        return (string) preg_replace('/[^\x20-\x7e]+/', ' ', end($lines));
    }
}
