<?php

declare(strict_types=1);

namespace TrendVault\Writer\Tests\Commands;

use PHPUnit\Framework\Attributes\DataProvider;
use PHPUnit\Framework\Attributes\Test;
use PHPUnit\Framework\TestCase;
use TrendVault\Writer\ExitCode;
use TrendVault\Writer\Tests\Support\Installation;
use TrendVault\Writer\Tests\Support\NdjsonLine;

final class RemoveTest extends TestCase
{
    private const string NEWEST_LIST = "SELECT video_id FROM trending WHERE window = 'day' AND category = '' AND generation = (SELECT max(id) FROM generations) ORDER BY rank";

    private Installation $installation;

    protected function setUp(): void
    {
        $this->installation = Installation::migrated();
        $this->observe(120);
        $this->installation->run(['rank']);
    }

    #[Test]
    public function a_removed_video_does_not_rank_nor_come_back_with_the_next_observation_until_it_is_allowed(): void
    {
        self::assertSame(ExitCode::Ok, $this->writer('remove', '-b', '--reason', 'a court order'));
        $this->observe(60);
        self::assertSame(['a', 'c'], $this->list());
        self::assertSame(
            0,
            $this->installation->value("SELECT count(*) FROM videos WHERE id NOT IN ('a', '-b', 'c')"),
        );
        self::assertStringContainsString(
            'Removed from all lists: a court order',
            $this->installation->run(['explain', 'GB', '--', '-b'])->output,
        );

        self::assertSame(ExitCode::Ok, $this->writer('allow', '-b'));
        self::assertSame(['a', '-b', 'c'], $this->list());
        self::assertSame(ExitCode::Usage, $this->writer('allow', '-b'));
    }

    #[Test]
    public function a_channel_is_removed_with_all_its_videos_and_empties_a_list_without_being_asked_again(): void
    {
        self::assertSame(ExitCode::Ok, $this->writer('remove', 'One & Co', '--channel'));
        self::assertSame(['c'], $this->list());
        self::assertSame(ExitCode::Ok, $this->writer('remove', 'Other', '--channel'));
        self::assertSame([], $this->list());
        self::assertSame(ExitCode::Ok, $this->writer('allow', 'One & Co', '--channel'));
        self::assertSame(['a', '-b'], $this->list());
    }

    /** @param list<string> $expected */
    #[Test]
    #[DataProvider('lines')]
    public function a_line_removes_as_the_command_does(string $line, array $expected, string $reason): void
    {
        $result = $this->installation->run(['ingest', '-'], "$line\n");

        self::assertSame([ExitCode::Ok, 1], [$result->exitCode, $result->events('ingested')[0]['removed']]);
        self::assertSame($expected, $this->list());
        self::assertSame($reason, $this->installation->value('SELECT reason FROM removals'));
        self::assertSame(
            1,
            $this->installation->value(
                'SELECT removed FROM runs WHERE command = \'ingest\' ORDER BY id DESC LIMIT 1',
            ),
        );
    }

    /** @return iterable<array{string, list<string>, string}> */
    public static function lines(): iterable
    {
        yield ['{"id": "a", "removed": true, "reason": "law"}', ['-b', 'c'], 'law'];
        yield ['{"channel": "One & Co", "removed": true, "reason": " la\u0000w\u202e "}', ['c'], 'la w'];
        yield ['{"id": "a", "removed": true, "reason": 5}', ['-b', 'c'], 'no reason given'];
        yield ['{"removed": true, "id": "a"}', ['-b', 'c'], 'no reason given'];
        yield [
            NdjsonLine::of(['id' => 'a', 'removed' => true, 'reason' => str_repeat('ä', 400)]),
            ['-b', 'c'],
            str_repeat('ä', 300),
        ];
    }

    #[Test]
    public function a_line_that_does_not_say_what_is_removed_is_rejected_and_one_that_removes_nothing_is_stored(): void
    {
        $lines = [
            '{"removed": true, "reason": "law"}',
            '{"id": "not an id", "removed": true}',
            '{"channel": 5, "removed": true}',
            NdjsonLine::of(['id' => 'd', 'removed' => false, 'observed_at' => NdjsonLine::ago(60)]),
            NdjsonLine::of(['id' => 'e', 'title' => '"removed": true', 'observed_at' => NdjsonLine::ago(60)]),
        ];
        $counts = $this->installation
            ->run(['ingest', '-'], implode("\n", $lines) . "\n")
            ->events('ingested')[0];

        self::assertSame([2, 0, 3], [$counts['accepted'], $counts['removed'], $counts['rejected']]);
    }

    #[Test]
    public function status_counts_what_is_removed_and_each_change_has_a_version(): void
    {
        $version = fn(): mixed => $this->installation->value('SELECT version FROM removals_version');
        $this->writer('remove', 'a');
        $this->writer('remove', 'unknown');
        $this->writer('remove', 'Other', '--channel');
        self::assertSame(3, $version());
        $this->writer('remove', 'a', '--reason', 'another');
        self::assertSame(3, $version());
        $status = $this->installation->run(['status', '--json'])->output;
        self::assertSame(
            ['videos' => 2, 'channels' => 1],
            json_decode($status, true, flags: JSON_THROW_ON_ERROR)['removed'],
        );
        self::assertStringContainsString(
            '2 videos, 1 channels',
            $this->installation->run(['status'])->output,
        );
        $this->writer('allow', 'unknown');
        self::assertSame(4, $version());
    }

    #[Test]
    public function an_editor_lifts_what_a_source_restricts_and_ends_that(): void
    {
        $file = "{$this->installation->folder->path}/editorial.json";
        file_put_contents($file, '{}');
        $this->installation->environment['EDITORIAL_FILE'] = $file;
        $line = ['id' => 'a', 'mature' => 'yes', 'countries' => ['excluded' => ['GB']]];
        $this->installation->run(
            ['ingest', '-'],
            NdjsonLine::of([...$line, 'observed_at' => NdjsonLine::ago(60)]) . "\n",
        );
        self::assertSame(['-b', 'c'], $this->list());
        $said = fn(string ...$arguments): string => $this->installation
            ->run(['allow', 'a', ...$arguments])
            ->message();
        self::assertStringContainsString('--field lifts one of mature, countries.', $said());
        foreach (
            [
                'no source says available_from of video a, but mature, countries.' => ['available_from'],
                'Nothing to end: mature of video a is not lifted.' => ['mature', '--end'],
                '--field: expected with the id of a video' => ['mature', '--channel'],
                '--field: expected one of mature, made_for_kids' => ['live'],
                '--reason: expected why' => ['mature'],
                '--until: expected a time to come' => ['mature', '--until', '2020-01-01T00:00:00Z'],
            ]
            as $refusal => $arguments
        ) {
            self::assertStringContainsString($refusal, $said('--field', ...$arguments));
        }
        self::assertStringContainsString('--until: expected with --field.', $said('--until', 'never'));
        self::assertSame('{}', file_get_contents($file));

        $why = ['--reason', 'seen', '--by', 'Ana'];
        self::assertSame(ExitCode::Ok, $this->writer('allow', 'a', '--field', 'mature', ...$why));
        self::assertSame(['-b', 'c'], $this->list());
        self::assertSame(ExitCode::Ok, $this->writer('allow', 'a', '--field', 'countries', ...$why));
        self::assertSame(['a', '-b', 'c'], $this->list());
        self::assertStringContainsString(
            "Editors lifted: countries, mature\n",
            $this->installation->run(['explain', 'GB', 'a'])->output,
        );
        self::assertStringContainsString(
            "lifted   mature of video a: seen (Ana)\n",
            $this->installation->run(['editorial'])->output,
        );
        self::assertStringContainsString(
            '2 restrictions lifted',
            $this->installation->run(['status'])->output,
        );
        self::assertStringContainsString(
            'trendvault_writer_editorial_lifted 2',
            $this->installation->run(['status', '--prometheus'])->output,
        );

        $text = (string) file_get_contents($file);
        file_put_contents($file, '{"lifted": [{}]}');
        self::assertSame(['a', '-b', 'c'], $this->list(), 'the last good file stays in force');
        file_put_contents($file, $text);
        self::assertSame(ExitCode::Ok, $this->writer('allow', 'a', '--field', 'mature', '--end'));
        self::assertSame(['-b', 'c'], $this->list());
        file_put_contents($file, $text);
        self::assertSame(['a', '-b', 'c'], $this->list());
        unset($this->installation->environment['EDITORIAL_FILE']);
        self::assertSame(['-b', 'c'], $this->list(), 'without the setting, sources restrict it again');
    }

    private function observe(int $ago): void
    {
        $videos = [['a', 'One & Co', 9000], ['-b', 'One & Co', 8000], ['c', 'Other', 7000]];
        $lines = array_map(
            static fn(array $video): array => [
                'id' => $video[0],
                'channel' => $video[1],
                'views' => $video[2],
                'observed_at' => NdjsonLine::ago($ago),
            ],
            $videos,
        );
        $this->installation->run(['ingest', '-'], NdjsonLine::many($lines));
    }

    private function writer(string $command, string $name, string ...$options): ExitCode
    {
        return $this->installation->run([$command, ...$options, '--', $name])->exitCode;
    }

    /** @return list<string> the newest list of GB, ranked anew */
    private function list(): array
    {
        self::assertSame(ExitCode::Ok, $this->installation->run(['rank'])->exitCode);

        return array_column($this->installation->rows(self::NEWEST_LIST), 'video_id');
    }
}
