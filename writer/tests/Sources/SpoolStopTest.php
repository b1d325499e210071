<?php

declare(strict_types=1);

namespace TrendVault\Writer\Tests\Sources;

use PHPUnit\Framework\Attributes\DataProvider;
use PHPUnit\Framework\Attributes\Test;
use PHPUnit\Framework\TestCase;
use TrendVault\Writer\ExitCode;
use TrendVault\Writer\Sources\SourceFailure;
use TrendVault\Writer\Sources\SpoolFile;
use TrendVault\Writer\Sources\SpoolName;
use TrendVault\Writer\Sources\TakenFiles;
use TrendVault\Writer\Tests\Support\Draws;
use TrendVault\Writer\Tests\Support\Installation;
use TrendVault\Writer\Tests\Support\NdjsonLine;

/** A file that takes long: the run is stopped while it reads it, or the file's own time is up. */
final class SpoolStopTest extends TestCase
{
    private const int MEGABYTES = 6000;

    private Installation $installation;
    private string $spool;

    protected function setUp(): void
    {
        $this->installation = Installation::migrated();
        $this->spool = "{$this->installation->folder->path}/spool";
        mkdir($this->spool);
        $this->installation->environment['SOURCES'] = "spool:$this->spool";
        $this->putBomb();
    }

    #[Test]
    #[DataProvider('signals')]
    public function a_run_that_is_stopped_while_it_reads_a_file_does_not_count_against_the_file(
        int $signal,
    ): void {
        $random = Draws::randomizer();
        for ($stop = 0; $stop < 4; $stop++) {
            $run = $this->installation->start(['cron']);
            while ($run->isRunning() && glob("{$this->installation->database}.reading/1-*") === []) {
                usleep(1000);
            }
            usleep($random->getInt(0, 100_000));
            posix_kill($run->id(), $signal);
            $result = $run->wait();

            self::assertSame(ExitCode::Stopped, $result->exitCode, Draws::hint() . " $result->errors");
            self::assertCount(
                1,
                glob("{$this->installation->database}.reading/0-*-bomb.ndjson.gz"),
                Draws::hint(),
            );
            self::assertSame(143, $this->installation->value('SELECT exit_code FROM runs ORDER BY id DESC'));
        }
    }

    /** @return array<string, array{int}> */
    public static function signals(): array
    {
        return ['SIGTERM' => [SIGTERM], 'SIGINT' => [SIGINT]];
    }

    #[Test]
    public function a_file_that_takes_longer_than_its_time_is_set_aside(): void
    {
        $folder = $this->installation->folder->path;
        $taken = new TakenFiles($this->installation->database, "$folder/rejected");
        $file = new SpoolFile($this->spool, $taken, SpoolName::waiting('bomb.ndjson.gz'), timeoutSeconds: 0);
        $file->claim();
        try {
            iterator_count($file->lines());
            self::fail('it was read to its end');
        } catch (SourceFailure $failure) {
            self::assertStringContainsString('SOURCE_TIMEOUT_SECONDS=0', $failure->getMessage());
        }
        $file->settle(false);

        self::assertCount(1, glob("$folder/rejected/*-bomb.ndjson.gz"));
    }

    /** A good line, then empty ones for longer than any test waits. */
    private function putBomb(): void
    {
        $lines = gzencode(str_repeat("\n", 100_000_000));
        $bomb = gzencode(NdjsonLine::of(['observed_at' => NdjsonLine::ago(60)]) . str_repeat("\n", 1000));
        file_put_contents("$this->spool/bomb.ndjson.gz", $bomb . str_repeat($lines, self::MEGABYTES / 100));
    }
}
