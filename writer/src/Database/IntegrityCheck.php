<?php

declare(strict_types=1);

namespace TrendVault\Writer\Database;

/**
 * Looks for damage with SQLite's quick_check, which reads the whole file (https://sqlite.org/pragma.html#pragma_quick_check).
 * It cannot be interrupted, so run() does it in a process of its own, which is killed when it takes too long.
 */
final readonly class IntegrityCheck
{
    private const int MAX_PROBLEMS = 5;
    private const int INTERVAL_SECONDS = 86_400;
    private const int TIMEOUT_SECONDS = 30;
    private const int POLL_MICROSECONDS = 20_000;
    private const int KEPT_CHECKS = 100;
    private const string ADD = 'INSERT INTO checks (checked_at, seconds, result, detail) VALUES (?, ?, ?, ?)';
    private const string DROP_OLD = 'DELETE FROM checks WHERE id <= (SELECT max(id) FROM checks) - ?';

    public function __construct(private Database $database) {}

    /** @return list<string> what is damaged, at most the first few; none when the file is whole */
    public function problems(): array
    {
        $found = $this->database->texts('PRAGMA quick_check(' . self::MAX_PROBLEMS . ')');

        return $found === ['ok'] ? [] : $found;
    }

    /**
     * Whether the last check is a day old, or of the future.
     *
     * @param int $now UTC seconds
     */
    public function isDue(int $now): bool
    {
        $last = $this->database->value('SELECT checked_at FROM checks ORDER BY id DESC LIMIT 1');

        return $last === null || $last > $now || $last <= $now - self::INTERVAL_SECONDS;
    }

    /**
     * Runs a command that ends with 0 when the file is whole, and with the given exit code and a text when it is
     * damaged; records what came out.
     *
     * @param list<string> $command
     * @param int $now UTC seconds
     * @return array{'whole'|'damaged'|'unfinished', ?string} the result and its detail
     */
    public function run(array $command, int $damagedExitCode, int $now): array
    {
        $started = hrtime(true);
        [$exitCode, $text] = self::execute($command);
        $seconds = (hrtime(true) - $started) / 1e9;
        $result = match ($exitCode) {
            0 => ['whole', null],
            $damagedExitCode => ['damaged', $text],
            null => ['unfinished', 'it took more than ' . self::TIMEOUT_SECONDS . ' seconds'],
            default => ['unfinished', "it ended with exit code $exitCode: $text"],
        };
        $this->database->run(self::ADD, [$now, $seconds, ...$result]);
        $this->database->run(self::DROP_OLD, [self::KEPT_CHECKS]);

        return $result;
    }

    /**
     * @param list<string> $command
     * @return array{?int, string} exit code, null after the timeout; what it wrote
     */
    private static function execute(array $command): array
    {
        $pipes = [];
        $output = @tmpfile();
        $process =
            $output === false
                ? false
                : @proc_open($command, [['file', '/dev/null', 'r'], $output, $output], $pipes);
        if ($output === false || $process === false) {
            return [-1, 'no process could be started'];
        }
        $status = proc_get_status($process);
        for (
            $polls = (self::TIMEOUT_SECONDS * 1_000_000) / self::POLL_MICROSECONDS;
            $status['running'] && $polls > 0;
            $polls--
        ) {
            usleep(self::POLL_MICROSECONDS);
            $status = proc_get_status($process);
        }
        if ($status['running']) {
            proc_terminate($process, SIGKILL);
        }
        proc_close($process);
        rewind($output);

        return [$status['running'] ? null : $status['exitcode'], trim((string) stream_get_contents($output))];
    }
}
