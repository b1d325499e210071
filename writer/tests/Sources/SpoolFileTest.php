<?php

declare(strict_types=1);

namespace TrendVault\Writer\Tests\Sources;

use PHPUnit\Framework\Attributes\Test;
use TrendVault\Writer\ExitCode;
use TrendVault\Writer\Tests\Support\Draws;
use TrendVault\Writer\Tests\Support\NdjsonLine;

final class SpoolFileTest extends SpoolTestCase
{
    #[Test]
    public function a_clean_file_is_ingested_once_and_moved_to_done(): void
    {
        $this->put('a.ndjson', NdjsonLine::many([['observed_at' => NdjsonLine::ago(60)]]));
        $this->put(
            'b.ndjson.gz',
            (string) gzencode(NdjsonLine::many([['id' => 'zipped', 'observed_at' => NdjsonLine::ago(60)]])),
        );

        self::assertSame(ExitCode::Ok, $this->installation->run(['cron'])->exitCode);
        self::assertSame(ExitCode::Ok, $this->installation->run(['cron'])->exitCode);
        self::assertSame(2, $this->installation->value('SELECT sum(accepted) FROM runs'));
        self::assertSame(0, $this->installation->value('SELECT sum(unchanged) FROM runs'));
        self::assertSame([], $this->waiting());
        self::assertCount(2, glob("{$this->taken('done')}/*"));
    }

    #[Test]
    public function a_file_with_bad_lines_is_moved_to_rejected_beside_a_report_and_its_good_lines_are_in(): void
    {
        $content = NdjsonLine::of(['observed_at' => NdjsonLine::ago(60)]) . "\nnonsense\n";
        $this->put('a.ndjson', $content);

        self::assertSame(ExitCode::Ok, $this->installation->run(['cron'])->exitCode);
        [$file, $report] = glob("{$this->taken('rejected')}/*");
        self::assertSame($content, file_get_contents($file));
        self::assertSame("$file.report.ndjson", $report);
        self::assertSame(
            ['line' => 2, 'reason' => 'not_json'],
            array_slice(json_decode((string) file_get_contents($report), true), 0, 2),
        );
        self::assertSame(1, $this->installation->value('SELECT count(*) FROM observations'));
    }

    #[Test]
    public function a_damaged_file_is_read_once_and_moved(): void
    {
        $random = Draws::randomizer();
        $zipped = (string) gzencode(
            NdjsonLine::many(
                array_map(
                    static fn(int $i): array => [
                        'id' => "v$i",
                        'observed_at' => NdjsonLine::ago(60),
                        'title' => bin2hex($random->getBytes(50)),
                    ],
                    range(1, 500),
                ),
            ),
        );
        $this->put('a.ndjson.gz', substr($zipped, 0, (int) (strlen($zipped) / 2)));
        $result = $this->installation->run(['cron']);

        self::assertSame(ExitCode::SourceFailed, $result->exitCode);
        self::assertStringContainsString('damaged or truncated', $result->message('source_failed'));
        self::assertGreaterThan(100, $this->installation->value('SELECT count(*) FROM observations'));
        self::assertSame([], $this->waiting());
        self::assertSame(ExitCode::Ok, $this->installation->run(['cron'])->exitCode);
    }

    #[Test]
    public function a_file_that_is_still_being_written_is_left_alone(): void
    {
        $this->put('.a.ndjson', 'half a li');
        $this->put('b.ndjson.part', 'half a li');

        self::assertSame(ExitCode::Ok, $this->installation->run(['cron'])->exitCode);
        self::assertCount(0, glob("{$this->taken('done')}/*"));
        self::assertFileExists("$this->spool/.a.ndjson");
    }

    #[Test]
    public function two_files_of_the_same_name_do_not_replace_each_other(): void
    {
        foreach ([60, 30] as $ago) {
            $this->put('a.ndjson', NdjsonLine::many([['observed_at' => NdjsonLine::ago($ago)]]));
            $this->installation->run(['cron']);
        }

        self::assertCount(2, glob("{$this->taken('done')}/*-a.ndjson"));
    }

    #[Test]
    public function a_file_whose_lines_were_stored_before_a_crash_is_only_moved(): void
    {
        $lines = NdjsonLine::of(['observed_at' => NdjsonLine::ago(60)]) . "\nnonsense\n";
        $this->put('a.ndjson', $lines);
        $this->installation->run(['cron']);
        [$moved, $report] = glob("{$this->taken('rejected')}/*");
        $firstReport = file_get_contents($report);
        // As after a kill between the commit and the move.
        rename($moved, "$this->spool/a.ndjson");
        $this->installation->run(['cron']);

        self::assertSame(1, $this->installation->value('SELECT count(*) FROM observations'));
        self::assertSame(1, $this->installation->value('SELECT observation_count FROM velocity'));
        self::assertSame([$moved, $report], glob("{$this->taken('rejected')}/*"));
        self::assertSame($firstReport, file_get_contents($report));
    }

    #[Test]
    public function a_missing_spool_folder_is_named(): void
    {
        $this->installation->environment['SOURCES'] = 'spool:/no/such/folder';
        $result = $this->installation->run(['cron']);

        self::assertSame(ExitCode::SourceFailed, $result->exitCode);
        self::assertStringContainsString('/no/such/folder', $result->message('source_failed'));
    }

    /** @return list<string> */
    private function waiting(): array
    {
        return glob("$this->spool/*.ndjson*") ?: [];
    }
}
