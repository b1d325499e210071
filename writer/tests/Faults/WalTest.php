<?php

declare(strict_types=1);

namespace TrendVault\Writer\Tests\Faults;

use PHPUnit\Framework\Attributes\Test;
use PHPUnit\Framework\TestCase;
use TrendVault\Writer\Tests\Support\Installation;
use TrendVault\Writer\Tests\Support\NdjsonLine;
use TrendVault\Writer\Tests\Support\Process;

/** An hour of it, against 64 MB, is in writer/bench. */
final class WalTest extends TestCase
{
    /** What two runs write. All of them write more: some must have cut it, though a reader may be in the way of any. */
    private const int MOST_BYTES = 3_000_000;
    private const int RUNS = 4;
    private const int VIDEOS = 8000;

    /** Reads a list again and again, in short transactions, as the origin does. */
    private const string READER = <<<'PHP'
    $database = new SQLite3($argv[1], SQLITE3_OPEN_READONLY);
    $database->busyTimeout(1000);
    while (true) {
        $result = $database->query('SELECT * FROM trending WHERE generation = (SELECT max(id) FROM generations)');
        for ($row = 0; $row < 2000 && $result->fetchArray() !== false; $row++);
        $result->finalize();
    }
    PHP;

    #[Test]
    public function it_stays_small_while_a_reader_reads_and_is_cut_to_nothing_when_it_pauses(): void
    {
        $installation = new Installation(['SOURCES' => '']);
        $installation->run(['migrate']);
        $reader = new Process(['php', '-r', self::READER, $installation->database], []);
        try {
            for ($run = self::RUNS; $run > 0; $run--) {
                $installation->environment['SOURCES'] = $installation->folder->write(
                    'views.ndjson',
                    self::lines(60 * $run),
                );
                $installation->run(['cron']);
                clearstatcache();
                self::assertLessThan(self::MOST_BYTES, filesize("$installation->database-wal"));
                self::assertTrue($reader->isRunning());
            }
        } finally {
            $reader->kill();
        }
        self::assertTrue($installation->run(['prune'])->events('pruned')[0]['wal_truncated']);
        clearstatcache();
        self::assertSame(
            0,
            is_file("$installation->database-wal") ? filesize("$installation->database-wal") : 0,
        );
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
