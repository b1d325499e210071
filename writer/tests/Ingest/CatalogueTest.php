<?php

declare(strict_types=1);

namespace TrendVault\Writer\Tests\Ingest;

use PHPUnit\Framework\Attributes\DataProvider;
use PHPUnit\Framework\Attributes\Test;
use PHPUnit\Framework\TestCase;
use TrendVault\Writer\ExitCode;
use TrendVault\Writer\Observations\Observation;
use TrendVault\Writer\Observations\ObservationParser;
use TrendVault\Writer\Observations\RejectedLine;
use TrendVault\Writer\Observations\RejectionReason;
use TrendVault\Writer\Tests\Support\FixedClock;
use TrendVault\Writer\Tests\Support\Installation;
use TrendVault\Writer\Tests\Support\NdjsonLine;

final class CatalogueTest extends TestCase
{
    #[Test]
    public function a_site_with_nothing_but_a_catalogue_has_lists(): void
    {
        $installation = Installation::migrated();
        $lines = [self::line(['id' => 'a']), self::line(['id' => 'b', 'regions' => ['GB', 'IE', 'GB']])];

        $run = $installation->run(['ingest', '-'], implode("\n", $lines));
        self::assertSame(ExitCode::Ok, $run->exitCode, $run->errors);
        $counts = $run->events('ingested')[0];
        self::assertSame([2, 0, 0], [$counts['announced'], $counts['accepted'], $counts['rejected']]);
        self::assertSame(2, $installation->value('SELECT announced FROM runs ORDER BY id DESC LIMIT 1'));
        self::assertSame(ExitCode::Ok, $installation->run(['cron'])->exitCode);
        self::assertSame(
            [['region' => 'GB', 'videos' => 2], ['region' => 'IE', 'videos' => 1]],
            $installation->rows(
                "SELECT region, count(*) AS videos FROM trending WHERE window = 'day' AND category = '' GROUP BY region",
            ),
        );
    }

    #[Test]
    public function a_later_line_changes_what_it_has_and_an_observation_keeps_the_url(): void
    {
        $installation = Installation::migrated();
        $lines = [
            self::line(['url' => 'https://videos.example/a?t=1#x', 'category' => 'Music']),
            self::line(['title' => 'Another', 'channel' => null, 'thumb_base' => null]),
            NdjsonLine::of(['title' => 'A third', 'observed_at' => NdjsonLine::ago(60)]),
        ];
        foreach ($lines as $line) {
            self::assertSame(ExitCode::Ok, $installation->run(['ingest', '-'], $line)->exitCode);
        }

        self::assertSame(
            [
                [
                    'title' => 'A third',
                    'channel' => 'A channel',
                    'category' => 'Music',
                    'url' => 'https://videos.example/a?t=1#x',
                ],
            ],
            $installation->rows('SELECT title, channel, category, url FROM videos'),
        );
    }

    #[Test]
    public function a_complete_catalogue_that_came_half_is_rejected_until_an_operator_allows_it(): void
    {
        $installation = Installation::migrated();
        [$one, $other] = ["{$installation->folder->path}/in/one", "{$installation->folder->path}/in/other"];
        array_map(static fn(string $folder): bool => mkdir($folder, recursive: true), [$one, $other]);
        $installation->environment = ['SOURCES' => "spool:$one,spool:$other"];
        $put = static fn(string $folder, string $name, array $lines): int|false => file_put_contents(
            "$folder/$name.ndjson",
            implode("\n", $lines) . "\n",
        );
        $lines = array_map(static fn(string $id): string => self::line(['id' => $id]), ['a', 'b', 'c', 'd']);
        $put($one, 'monday', $lines);
        $put($other, 'partner', [self::line(['id' => 'a', 'regions' => ['FR'], 'title' => 'Another'])]);
        self::assertSame(ExitCode::Ok, $installation->run(['cron'])->exitCode);
        $put($one, 'tuesday', [...array_slice($lines, 0, 2), '{"complete": true}']);

        $run = $installation->run(['cron']);
        self::assertSame(ExitCode::SourceFailed, $run->exitCode, $run->errors);
        self::assertStringContainsString('--allow-leaving', $run->events('source_failed')[0]['message']);
        self::assertSame(5, $installation->value('SELECT count(*) FROM catalogue'));
        $file = (glob("{$installation->folder->path}/rejected/*-tuesday.ndjson") ?: [''])[0];
        $run = $installation->run(['ingest', '--allow-leaving', '--as', "spool:$one", $file]);
        self::assertSame(
            [ExitCode::Ok, 2],
            [$run->exitCode, $run->events('ingested')[0]['left']],
            $run->errors,
        );
        self::assertSame(
            [['title' => 'A title', 'regions' => 'FR,GB']],
            $installation->rows(
                "SELECT title, group_concat(region ORDER BY region) AS regions FROM videos JOIN catalogue ON video_id = id WHERE id = 'a'",
            ),
        );
        self::assertSame(
            ExitCode::Usage,
            $installation->run(['ingest', '--as', 'spool:/elsewhere', $file])->exitCode,
        );
    }

    #[Test]
    public function a_video_that_is_new_needs_its_description_and_the_lines_around_it_are_stored(): void
    {
        $installation = Installation::migrated();
        $lines = [self::line(['id' => 'a', 'title' => null]), self::line(['id' => 'b'])];

        $run = $installation->run(['ingest', '-'], implode("\n", $lines));

        self::assertSame(['missing_metadata' => 1], $run->events('lines_rejected')[0]['reasons']);
        self::assertSame([['video_id' => 'b']], $installation->rows('SELECT video_id FROM catalogue'));
        self::assertSame(1, $installation->value('SELECT count(*) FROM videos'));
    }

    #[Test]
    public function a_line_with_views_is_an_observation_whatever_else_it_has(): void
    {
        $parser = new ObservationParser(['GB' => true], FixedClock::NOON);

        self::assertInstanceOf(Observation::class, $parser->parse(NdjsonLine::of(['regions' => ['XX']])));
        $this->expectExceptionMessage('views: expected the cumulative views');
        $parser->parse(NdjsonLine::of(['views' => null, 'regions' => null]));
    }

    /** @param array<string, mixed> $fields */
    #[Test]
    #[DataProvider('badLines')]
    public function a_line_that_cannot_be_stored_has_its_reason(array $fields, RejectionReason $reason): void
    {
        try {
            new ObservationParser(['GB' => true, 'IE' => true], FixedClock::NOON)->parse(self::line($fields));
            self::fail('the line was taken');
        } catch (RejectedLine $rejected) {
            self::assertSame($reason, $rejected->reason);
        }
    }

    /** @return iterable<string, array{array<string, mixed>, RejectionReason}> */
    public static function badLines(): iterable
    {
        foreach ([[], ['XX'], ['GB', 'gb'], 'GB', ['a' => 'GB'], [['GB']], [1]] as $regions) {
            yield 'regions ' . json_encode($regions) => [
                ['regions' => $regions],
                RejectionReason::UnknownRegion,
            ];
        }
        $long = 'https://v.example/' . str_repeat('a', 2000);
        foreach (
            [
                'http://v.example/',
                'https://',
                'https://u@v.example/',
                'javascript:1',
                "https://v.example/\n",
                "https://v.example/\u{202e}",
                'https://v.example/"',
                7,
                $long,
            ]
            as $url
        ) {
            yield 'url ' . substr((string) json_encode($url), 0, 60) => [
                ['url' => $url],
                RejectionReason::BadUrl,
            ];
        }
        yield 'a title taken back' => [['unset' => ['title']], RejectionReason::BadUnset];
        yield 'no list of fields' => [['unset' => 'url'], RejectionReason::BadUnset];
        yield 'no id' => [['id' => null], RejectionReason::MissingField];
        yield 'an id' => [['id' => '../a'], RejectionReason::BadId];
        yield 'a title' => [['title' => ' '], RejectionReason::BadText];
        yield 'a thumb_base' => [['thumb_base' => 'ftp://x/'], RejectionReason::BadThumbBase];
        yield 'a time' => [['published_at' => 'yesterday'], RejectionReason::BadTime];
        yield 'a language' => [['language' => 'pt_BR'], RejectionReason::BadLanguage];
        yield 'a duration' => [['duration_seconds' => -1], RejectionReason::BadCount];
    }

    /** @param array<string, mixed> $fields */
    private static function line(array $fields): string
    {
        return NdjsonLine::of([
            'views' => null,
            'region' => null,
            'observed_at' => null,
            'regions' => ['GB'],
            ...$fields,
        ]);
    }
}
