<?php

declare(strict_types=1);

namespace TrendVault\Writer\Tests\Faults;

use PHPUnit\Framework\Attributes\Test;
use PHPUnit\Framework\TestCase;
use TrendVault\Writer\Tests\Support\Installation;
use TrendVault\Writer\Tests\Support\NdjsonLine;
use TrendVault\Writer\Tests\Support\Process;

/** An hour of it, against 64 MB, is in `bin/bench cron`. */
final class WalTest extends TestCase
{
    /** A reader may be in the way of any run, of all of these only when truncating does not work. */
    private const int MAX_RUNS = 30;
    /** After truncating, a run writes its end into the table runs. */
    private const int MAX_BYTES_OF_RECORD = 50_000;
    private const int VIDEOS = 8000;

    /** Reads a list again and again, in short transactions, as the origin does. */
    private const string READER = <<<'PHP'
    $database = new SQLite3($argv[1], SQLITE3_OPEN_READONLY);
    $database->busyTimeout(60_000);
    while (true) {
        $result = $database->query('SELECT * FROM trending WHERE generation = (SELECT max(id) FROM generations)');
        for ($row = 0; $row < 2000 && $result->fetchArray() !== false; $row++);
        $result->finalize();
        usleep(1000); // or no moment would be left without a reader
    }
    PHP;

    #[Test]
    public function a_run_truncates_the_wal_while_a_reader_reads_and_prune_does_when_none_is_left(): void
    {
        $installation = new Installation(['SOURCES' => '']);
        $installation->run(['migrate']);
        $reader = new Process(['php', '-r', self::READER, $installation->database], []);
        try {
            $truncated = false;
            for ($run = self::MAX_RUNS; $run > 0 && !$truncated; $run--) {
                $installation->environment['SOURCES'] = $installation->folder->write(
                    'views.ndjson',
                    self::lines(60 * $run),
                );
                $truncated = $installation->run(['cron'])->events('pruned')[0]['wal_truncated'];
                self::assertTrue($reader->isRunning());
            }
            self::assertTrue($truncated);
            self::assertLessThan(self::MAX_BYTES_OF_RECORD, self::walBytes($installation));
        } finally {
            $reader->kill();
        }
        self::assertTrue($installation->run(['prune'])->events('pruned')[0]['wal_truncated']);
        self::assertSame(0, self::walBytes($installation));
    }

    private static function walBytes(Installation $installation): int
    {
        clearstatcache();

        return is_file("$installation->database-wal") ? (int) filesize("$installation->database-wal") : 0;
    }

    private static function lines(int $ago): string
    {
        return NdjsonLine::many(
            array_map(
                static fn(int $video): array => [
                    'id' => "v$video",
                    'channel' => 'Channel ' . $video % 999,
                    'observed_at' => NdjsonLine::ago($ago),
                    'views' => 10_000 - $ago,
                ],
                range(1, self::VIDEOS),
            ),
        );
    }
}
