<?php

declare(strict_types=1);

namespace TrendVault\Writer\Tests\Commands;

use PHPUnit\Framework\Attributes\Test;
use PHPUnit\Framework\TestCase;
use TrendVault\Writer\Cli\ExitCode;
use TrendVault\Writer\Tests\Support\Installation;
use TrendVault\Writer\Tests\Support\Line;

final class IngestTest extends TestCase
{
    #[Test]
    public function bad_lines_are_set_aside_with_number_and_reason_and_the_rest_is_stored(): void
    {
        $installation = Installation::migrated();
        $lines = [
            Line::of(['id' => 'good-1', 'observed_at' => Line::ago(60)]),
            '{"broken": ',
            Line::of(['id' => 'no-views', 'views' => null]),
            Line::of(['id' => 'negative', 'views' => -1]),
            Line::of(['id' => 'nowhere', 'region' => 'XX']),
            "{\"id\": \"\xff\"}",
            Line::of(['id' => 'huge', 'title' => str_repeat('x', 10_000_000)]),
            Line::of(['id' => 'good-2', 'observed_at' => Line::ago(60)]),
        ];
        $result = $installation->run(['ingest', '-'], implode("\n", $lines) . "\n");

        self::assertSame(ExitCode::Ok, $result->exitCode);
        self::assertSame(['good-1', 'good-2'], array_column($installation->rows('SELECT video_id FROM observations ORDER BY video_id'), 'video_id'));
        [$report] = glob("{$installation->folder->path}/rejected/*.report.ndjson");
        self::assertSame(
            [[2, 'not_json'], [3, 'missing_field'], [4, 'bad_count'], [5, 'unknown_region'], [6, 'not_utf8'], [7, 'too_long']],
            array_map(static fn (string $line): array => array_slice(array_values(json_decode($line, true)), 0, 2), file($report)),
        );
        self::assertSame(implode("\n", array_slice($lines, 1, 6)) . "\n", file_get_contents(str_replace('.report', '', $report)));
        self::assertStringContainsString('2 accepted', $result->message('ingested'));
        self::assertStringContainsString('6 set aside', $result->message('ingested'));
        self::assertSame(6, $installation->value('SELECT sum(line_count) FROM rejections'));
    }

    #[Test]
    public function the_same_file_twice_changes_nothing(): void
    {
        $installation = Installation::migrated();
        $file = $installation->folder->write('views.ndjson', Line::many([
            ['id' => 'a', 'observed_at' => Line::ago(7200), 'views' => 10],
            ['id' => 'a', 'observed_at' => Line::ago(3600), 'views' => 30],
            ['id' => 'b', 'observed_at' => Line::ago(3600)],
        ]));
        $tables = ['SELECT * FROM videos', 'SELECT * FROM observations', 'SELECT * FROM velocity'];
        $installation->run(['ingest', $file]);
        $before = array_map($installation->rows(...), $tables);
        $result = $installation->run(['ingest', $file]);

        self::assertSame($before, array_map($installation->rows(...), $tables));
        self::assertSame(3, $result->events('ingested')[0]['unchanged']);
    }

    #[Test]
    public function archived_data_can_be_moved_to_now(): void
    {
        $installation = Installation::migrated();
        $file = $installation->folder->write('views.ndjson', Line::many([
            ['id' => 'a', 'observed_at' => '2017-09-13T12:00:00Z', 'published_at' => '2017-09-13T00:00:00Z'],
            ['id' => 'a', 'observed_at' => '2017-09-14T12:00:00Z', 'published_at' => '2017-09-13T00:00:00Z'],
        ]));
        $installation->run(['ingest', '--shift-to-now', $file]);

        $newest = $installation->value('SELECT max(observed_at) FROM observations');
        self::assertEqualsWithDelta(time(), $newest, 5);
        self::assertSame($newest - 86_400, $installation->value('SELECT min(observed_at) FROM observations'));
        self::assertSame($newest - 129_600, $installation->value('SELECT published_at FROM videos'));
    }

    #[Test]
    public function a_source_that_stops_in_the_middle_of_a_line_is_reported_and_the_rest_is_stored(): void
    {
        $installation = Installation::migrated();
        $result = $installation->run(['ingest', '-'], Line::of(['observed_at' => Line::ago(60)]) . "\n{\"id\": \"vid");

        self::assertSame(ExitCode::SourceFailed, $result->exitCode);
        self::assertStringContainsString('stopped in the middle of a line', $result->message('source_failed'));
        self::assertSame(1, $installation->value('SELECT count(*) FROM observations'));
        self::assertSame('cut_off', $installation->value('SELECT reason FROM rejections'));
    }
}
