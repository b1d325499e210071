<?php

declare(strict_types=1);

namespace TrendVault\Writer\Tests\Sources;

use PHPUnit\Framework\Attributes\DataProvider;
use PHPUnit\Framework\Attributes\Test;
use PHPUnit\Framework\TestCase;
use TrendVault\Writer\Observations\RejectionReason;
use TrendVault\Writer\Sources\RejectStore;
use TrendVault\Writer\Tests\Support\TemporaryFolder;

final class RejectStoreTest extends TestCase
{
    private const int MEBIBYTE = 1024 * 1024;
    private const int MOST_BYTES = 64 * self::MEBIBYTE;

    /** @param list<int> $pieces sizes of a line's pieces, in bytes */
    #[Test]
    #[DataProvider('lines')]
    public function what_is_kept_of_any_source_is_bounded_and_the_report_counts_the_rest(array $pieces): void
    {
        $folder = new TemporaryFolder();
        $rejects = RejectStore::lines($folder->path, 'a');
        $lines = intdiv(100 * self::MEBIBYTE, array_sum($pieces));
        for ($line = 1; $line <= $lines; $line++) {
            foreach ($pieces as $number => $bytes) {
                $isLast = $number === count($pieces) - 1;
                $rejects->keep(str_repeat('x', $bytes - (int) $isLast) . ($isLast ? "\n" : ''));
            }
            $rejects->report($line, RejectionReason::TooLong, 'expected less');
        }
        $rejects->finish();

        self::assertLessThanOrEqual(self::MOST_BYTES + 1, filesize("$folder->path/a.ndjson"));
        self::assertGreaterThan(self::MOST_BYTES - array_sum($pieces), filesize("$folder->path/a.ndjson"));
        $report = file("$folder->path/a.report.ndjson");
        $kept = intdiv(self::MOST_BYTES, array_sum($pieces));
        self::assertSame(['lines_not_kept' => $lines - $kept], json_decode(end($report), true));
        self::assertLessThan(1100, count($report));
    }

    #[Test]
    public function of_what_others_send_one_run_is_kept_and_less_of_it(): void
    {
        $folder = new TemporaryFolder();
        for ($run = 1; $run <= 3; $run++) {
            $rejects = RejectStore::latest($folder->path, 'a');
            for ($line = 1; $line <= 6; $line++) {
                $rejects->keep("$run" . str_repeat('x', self::MEBIBYTE) . "\n");
                $rejects->report($line, RejectionReason::TooLong, 'expected less');
            }
            $rejects->finish();
            RejectStore::latest($folder->path, 'a')->finish();
        }

        self::assertSame(
            ['a.ndjson', 'a.report.ndjson'],
            array_values(array_diff((array) scandir($folder->path), ['.', '..'])),
        );
        self::assertStringStartsWith('3xxx', (string) file_get_contents("$folder->path/a.ndjson"));
        self::assertLessThanOrEqual(4 * self::MEBIBYTE, filesize("$folder->path/a.ndjson"));
        self::assertStringContainsString(
            '"lines_not_kept":3',
            (string) file_get_contents("$folder->path/a.report.ndjson"),
        );
    }

    #[Test]
    public function a_report_is_a_new_file_whatever_had_its_name(): void
    {
        $folder = new TemporaryFolder();
        file_put_contents("$folder->path/victim", 'as it was');
        foreach (['symlink', 'link', 'pipe', 'file'] as $kind) {
            $report = "$folder->path/a.report.ndjson";
            match ($kind) {
                'symlink' => symlink("$folder->path/victim", $report),
                'link' => link("$folder->path/victim", $report),
                'pipe' => posix_mkfifo($report, 0o600),
                'file' => file_put_contents($report, str_repeat('earlier', 100)),
            };
            $rejects = RejectStore::reportOnly($folder->path, 'a');
            $rejects->report(1, RejectionReason::NotJson, 'expected JSON');
            $rejects->finish();

            self::assertSame('as it was', file_get_contents("$folder->path/victim"));
            self::assertCount(1, (array) file($report), $kind);
            unlink($report);
        }
    }

    /** @return array<string, array{list<int>}> */
    public static function lines(): array
    {
        return [
            'short lines' => [[1000]],
            'long lines' => [[self::MEBIBYTE]],
            'lines in pieces' => [[self::MEBIBYTE, self::MEBIBYTE, 7]],
        ];
    }
}
