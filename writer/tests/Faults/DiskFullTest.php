<?php

declare(strict_types=1);

namespace TrendVault\Writer\Tests\Faults;

use PHPUnit\Framework\Attributes\Test;
use PHPUnit\Framework\TestCase;
use TrendVault\Writer\ExitCode;
use TrendVault\Writer\Tests\Support\Installation;
use TrendVault\Writer\Tests\Support\NdjsonLine;
use TrendVault\Writer\Tests\Support\SmallDisk;

final class DiskFullTest extends TestCase
{
    #[Test]
    public function a_full_disk_is_named_the_last_generation_stays_and_free_space_is_enough_to_go_on(): void
    {
        $disk = new SmallDisk();
        $installation = new Installation([], "$disk->path/test.db");
        $installation->run(['migrate']);
        $installation->run(['ingest', '-'], self::lines(100, 7200));
        $installation->run(['rank']);
        $published = $installation->rows('SELECT * FROM trending');
        $disk->fillUpTo(2_000_000);

        $full = $installation->run(['ingest', '-'], self::lines(30_000, 3600));
        self::assertSame(ExitCode::DiskFull, $full->exitCode);
        self::assertStringContainsString('the disk is full', $full->message());
        self::assertNotSame([], $published);
        self::assertSame($published, $installation->rows('SELECT * FROM trending'));
        self::assertSame('ok', $installation->value('PRAGMA integrity_check'));

        $disk->empty();
        self::assertSame(ExitCode::Ok, $installation->run(['ingest', '-'], self::lines(200, 3600))->exitCode);
        self::assertSame(ExitCode::Ok, $installation->run(['rank'])->exitCode);
        self::assertSame(2, $installation->value('SELECT count(*) FROM generations'));
    }

    #[Test]
    public function a_disk_without_room_for_the_lock_file_is_named(): void
    {
        $disk = new SmallDisk();
        $installation = new Installation([], "$disk->path/test.db");
        $installation->run(['migrate']);
        file_put_contents("$disk->path/test.db.lock", '');
        $disk->fillUpTo(0);
        self::assertSame(0, $disk->freeBytes());

        $full = $installation->run(['rank']);
        self::assertSame(ExitCode::DiskFull, $full->exitCode, $full->message());
        self::assertStringContainsString('the disk is full', $full->message());
    }

    #[Test]
    public function a_disk_without_room_for_another_file_is_named_and_one_that_goes_is_enough_to_go_on(): void
    {
        $disk = new SmallDisk(files: 20);
        $installation = new Installation([], "$disk->path/test.db");
        $installation->run(['migrate']);
        $installation->run(['ingest', '-'], self::lines(10, 7200));
        $files = 0;
        while (@touch("$disk->path/file$files")) {
            $files++;
        }

        $full = $installation->run(['rank']);
        self::assertSame(ExitCode::DiskFull, $full->exitCode, $full->message());
        self::assertStringContainsString('the disk is full', $full->message());

        array_map(static fn(int $number): bool => unlink("$disk->path/file$number"), range(0, $files - 1));
        self::assertSame(ExitCode::Ok, $installation->run(['rank'])->exitCode);
    }

    private static function lines(int $count, int $ago): string
    {
        return NdjsonLine::many(
            array_map(
                static fn(int $i): array => [
                    'id' => "v$i",
                    'channel' => "Channel $i",
                    'observed_at' => NdjsonLine::ago($ago),
                ],
                range(1, $count),
            ),
        );
    }
}
