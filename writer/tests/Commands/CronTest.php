<?php

declare(strict_types=1);

namespace TrendVault\Writer\Tests\Commands;

use PHPUnit\Framework\Attributes\DataProvider;
use PHPUnit\Framework\Attributes\Test;
use PHPUnit\Framework\TestCase;
use TrendVault\Writer\ExitCode;
use TrendVault\Writer\Tests\Support\Installation;
use TrendVault\Writer\Tests\Support\NdjsonLine;

final class CronTest extends TestCase
{
    #[Test]
    public function where_there_is_no_database_or_an_empty_file_a_run_begins_none_and_migrate_does(): void
    {
        $installation = new Installation();
        $installation->environment['SOURCES'] = $installation->folder->write(
            'views.ndjson',
            NdjsonLine::many([['observed_at' => NdjsonLine::ago(60)]]),
        );
        foreach (['missing', 'empty'] as $kind) {
            if ($kind === 'empty') {
                touch($installation->database);
            }
            foreach ([['cron'], ['rank'], ['status']] as $command) {
                $result = $installation->run($command);

                self::assertSame(ExitCode::DatabaseUnavailable, $result->exitCode, $kind);
                self::assertStringContainsString('There is no database', $result->message());
                self::assertSame(
                    $kind === 'missing' ? [] : [$installation->database],
                    glob("$installation->database*"),
                );
            }
        }
        self::assertSame(ExitCode::Ok, $installation->run(['migrate'])->exitCode);
        self::assertSame(ExitCode::Ok, $installation->run(['cron'])->exitCode);
        self::assertSame(
            ['video-1'],
            array_column(
                $installation->rows("SELECT video_id FROM trending WHERE window = 'day'"),
                'video_id',
            ),
        );
    }

    #[Test]
    public function each_run_prunes_what_is_older_than_the_settings_keep(): void
    {
        $installation = Installation::migrated(['GENERATION_RETENTION_HOURS' => (string) (600 / 3600)]);
        $installation->environment['SOURCES'] = $installation->folder->write(
            'views.ndjson',
            NdjsonLine::of(['observed_at' => NdjsonLine::ago(60)]),
        );
        for ($run = 0; $run < 3; $run++) {
            $installation->run(['cron']);
            $installation->execute(
                'UPDATE generations SET published_at = published_at - 500, previous_at = previous_at - 500',
            );
        }
        $installation->run(['cron']);

        self::assertSame(
            [2, 3, 4],
            array_column($installation->rows('SELECT id FROM generations ORDER BY id'), 'id'),
        );
    }

    #[Test]
    #[DataProvider('sourcesWithoutVideos')]
    public function while_nothing_is_stored_nothing_is_published_and_it_says_what_to_set(
        string $sources,
        ExitCode $expected,
        string $message,
    ): void {
        $installation = Installation::migrated(['SOURCES' => $sources]);
        mkdir("{$installation->folder->path}/spool");
        $installation->environment['SOURCES'] = str_replace('FOLDER', $installation->folder->path, $sources);
        $result = $installation->run(['cron']);

        self::assertSame($expected, $result->exitCode);
        self::assertSame(0, $installation->value('SELECT count(*) FROM generations'));
        self::assertStringContainsString(
            $message,
            $result->message('nothing_to_publish') . $result->message('source_failed'),
        );
    }

    /** @return array<string, array{string, ExitCode, string}> */
    public static function sourcesWithoutVideos(): array
    {
        return [
            'none' => ['', ExitCode::Ok, 'SOURCES is not set. Set it to one or more of demo, spool:FOLDER, '],
            'an empty spool' => ['spool:FOLDER/spool', ExitCode::Ok, 'no view counts are stored yet.'],
            'a mistyped one' => ['dmo', ExitCode::SourceFailed, 'Expected demo, spool:FOLDER, http:URL,'],
        ];
    }

    #[Test]
    public function a_second_run_stops_and_says_why(): void
    {
        $installation = Installation::migrated();
        $lock = fopen("$installation->database.lock", 'c+');
        flock($lock, LOCK_EX);
        $result = $installation->run(['cron']);

        self::assertSame(ExitCode::AlreadyRunning, $result->exitCode);
        self::assertStringContainsString('Already running', $result->message());
        self::assertNull($installation->value('SELECT max(id) FROM runs WHERE command = \'cron\''));
    }

    #[Test]
    public function a_source_that_fails_does_not_keep_the_others_from_being_published(): void
    {
        $installation = Installation::migrated();
        $file = $installation->folder->write(
            'views.ndjson',
            NdjsonLine::many([['observed_at' => NdjsonLine::ago(60)]]),
        );
        $installation->environment['SOURCES'] = "/no/such/file, $file";
        $result = $installation->run(['cron']);

        self::assertSame(ExitCode::SourceFailed, $result->exitCode);
        self::assertStringContainsString('/no/such/file', $result->message('source_failed'));
        self::assertSame(1, $installation->value('SELECT video_count FROM generations'));
    }
}
