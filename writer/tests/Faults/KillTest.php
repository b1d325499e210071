<?php

declare(strict_types=1);

namespace TrendVault\Writer\Tests\Faults;

use Closure;
use PHPUnit\Framework\Attributes\Test;
use PHPUnit\Framework\TestCase;
use Random\Randomizer;
use Throwable;
use TrendVault\Writer\ExitCode;
use TrendVault\Writer\Ranking\Velocity;
use TrendVault\Writer\Tests\Support\Draws;
use TrendVault\Writer\Tests\Support\Installation;
use TrendVault\Writer\Tests\Support\NdjsonLine;
use TrendVault\Writer\Tests\Support\Process;

final class KillTest extends TestCase
{
    /** More than a batch, so that some kills fall between two commits of a file. */
    private const int LINES = 5400;
    private const int VIDEOS = 600;
    /** To kill a run while it works, for each kill that is wanted. */
    private const int MOST_ATTEMPTS = 20;
    /** Then the next database begins: in a large one, most of a run would come after the moments that are drawn. */
    private const int KILLS_OF_A_DATABASE = 50;
    private const int KILLS_OF_A_REPORT = 10;

    private const array TABLES = [
        'SELECT observed_at, video_id, views, previous_observed_at FROM observations ORDER BY observed_at, region, video_id',
        // Not when they came.
        'SELECT region, video_id, description_hash, ' .
        Velocity::COLUMNS .
        ' FROM velocity AS y ORDER BY video_id, region',
        'SELECT id, title, channel FROM videos ORDER BY id',
    ];
    private const string INCOMPLETE_LISTS = 'SELECT generation FROM trending GROUP BY generation, region, window, category HAVING count(*) <> max(rank)';
    private const string INCOMPLETE_GENERATIONS = <<<'SQL'
    SELECT g.id FROM generations AS g
    WHERE (SELECT count(*) FROM generation_regions WHERE generation = g.id) <> (SELECT count(*) FROM regions)
       OR (g.video_count > 0) <> EXISTS (SELECT 1 FROM trending WHERE generation = g.id)
    SQL;

    private Randomizer $random;

    protected function setUp(): void
    {
        $this->random = Draws::randomizer();
    }

    protected function onNotSuccessfulTest(Throwable $failure): never
    {
        fwrite(STDERR, "\nKillTest failed with " . Draws::hint() . "; set it to repeat the same moments.\n");
        throw $failure;
    }

    #[Test]
    public function kills_at_random_moments_lose_no_line_store_none_twice_and_publish_no_incomplete_generation(): void
    {
        $kills = (int) (getenv('TEST_KILLS') ?: Draws::count(usual: 25, long: 200));
        for ($before = 0; $before < $kills; $before += self::KILLS_OF_A_DATABASE) {
            $this->killAndCompare(
                min($kills - $before, self::KILLS_OF_A_DATABASE),
                static fn(int $died) => self::report($before + $died, $kills),
            );
        }
    }

    /** Says how far it is, to somebody who has asked for so many kills, which take a while. */
    private static function report(int $died, int $kills): void
    {
        if (getenv('TEST_KILLS') !== false && ($died % self::KILLS_OF_A_REPORT === 0 || $died === $kills)) {
            fwrite(STDERR, sprintf("%s killed %d of %d times\n", gmdate('H:i:s'), $died, $kills));
        }
    }

    /**
     * Kills runs of one installation until so many died while they worked, and compares it with one that nobody killed.
     *
     * @param Closure(int): void $report is given how many have died, each time that one more has
     */
    private function killAndCompare(int $kills, Closure $report): void
    {
        $start = time() - 7 * 86_400;
        [$undisturbed, $killed, $files] = [self::installation(), self::installation(), 0];
        self::spool($undisturbed, $start, 0);
        $cpuBefore = Process::cpuNanosecondsOfChildren();
        $undisturbed->run(['cron']);
        $cpuOfRun = Process::cpuNanosecondsOfChildren() - $cpuBefore;

        for ([$attempt, $died] = [0, 0]; $died < $kills; $attempt++) {
            self::assertLessThan(self::MOST_ATTEMPTS * $kills, $attempt, 'too few died while they worked');
            if (self::waiting($killed) === []) {
                self::spool($killed, $start, $files++);
            }
            $killed->start(['cron'])->killAtCpuTime($this->random->getInt(0, $cpuOfRun));
            self::putBack($killed);
            if (is_file($killed->database)) {
                self::assertConsistent($killed);
            }
            if ($killed->unfinishedRuns() > $died) {
                $report(++$died);
            }
        }
        $killed->run(['cron']);
        self::putBack($killed);
        self::assertSame(ExitCode::Ok, $killed->run(['cron'])->exitCode);
        for ($file = 1; $file < $files; $file++) {
            self::spool($undisturbed, $start, $file);
        }
        $undisturbed->run(['cron']);

        self::assertConsistent($killed);
        foreach (self::TABLES as $table) {
            self::assertSame($undisturbed->fingerprint($table), $killed->fingerprint($table), $table);
        }
        self::assertSame([], self::waiting($killed));
        self::assertCount($files, glob("{$killed->folder->path}/done/*"));
    }

    private static function assertConsistent(Installation $installation): void
    {
        self::assertSame('ok', $installation->value('PRAGMA integrity_check'));
        if ($installation->value("SELECT count(*) FROM sqlite_schema WHERE name = 'trending'") === 1) {
            self::assertSame([], $installation->rows(self::INCOMPLETE_LISTS));
            self::assertSame([], $installation->rows(self::INCOMPLETE_GENERATIONS));
        }
    }

    private static function installation(): Installation
    {
        $installation = Installation::migrated();
        mkdir("{$installation->folder->path}/spool");
        $installation->environment['SOURCES'] = "spool:{$installation->folder->path}/spool";

        return $installation;
    }

    /** @return list<string> also what a run that was killed had begun to read */
    private static function waiting(Installation $installation): array
    {
        return [
            ...glob("{$installation->folder->path}/spool/*.ndjson") ?: [],
            ...glob("$installation->database.reading/*.ndjson") ?: [],
        ];
    }

    /** A file of which runs were killed waits, or is rejected: an operator puts it back. */
    private static function putBack(Installation $installation): void
    {
        $folder = $installation->folder->path;
        array_map(unlink(...), glob("$folder/rejected/*.report.ndjson") ?: []);
        foreach (
            [
                ...glob("$folder/rejected/*.ndjson") ?: [],
                ...glob("$installation->database.reading/[23]-*") ?: [],
            ]
            as $path
        ) {
            rename($path, "$folder/spool/" . substr($path, -strlen('000.ndjson')));
        }
    }

    private static function spool(Installation $installation, int $start, int $file): void
    {
        $lines = [];
        for ($line = 0; $line < self::LINES; $line++) {
            $minute = intdiv($line, self::VIDEOS) + $file * intdiv(self::LINES, self::VIDEOS);
            $lines[] = [
                'id' => 'v' . $line % self::VIDEOS,
                'channel' => 'Channel ' . $line % 250,
                'region' => ['GB', 'DE', 'FR'][$line % 3],
                'observed_at' => gmdate('Y-m-d\TH:i:s\Z', $start + $minute * 60),
                'views' => $minute * ($line % 97),
            ];
        }
        $installation->folder->write('spool/.new', NdjsonLine::many($lines));
        rename(
            "{$installation->folder->path}/spool/.new",
            "{$installation->folder->path}/spool/" . sprintf('%03d.ndjson', $file),
        );
    }
}
