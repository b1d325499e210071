<?php

declare(strict_types=1);

namespace TrendVault\Writer\Tests\Commands;

use PHPUnit\Framework\Attributes\Test;
use PHPUnit\Framework\Attributes\TestWith;
use PHPUnit\Framework\TestCase;
use TrendVault\Writer\ExitCode;
use TrendVault\Writer\Tests\Support\Installation;
use TrendVault\Writer\Tests\Support\NdjsonLine;
use TrendVault\Writer\Tests\Support\TemporaryFolder;

final class ExplainTest extends TestCase
{
    #[Test]
    public function an_explanation_goes_from_the_view_counts_to_the_forecast_to_the_rank(): void
    {
        $installation = Installation::migrated();
        $installation->run(
            ['ingest', '-'],
            NdjsonLine::many([
                [
                    'observed_at' => NdjsonLine::ago(7200),
                    'views' => 1000,
                    'title' => 'The video',
                    'published_at' => NdjsonLine::ago(36_000),
                ],
                ['observed_at' => NdjsonLine::ago(3600), 'views' => 3500],
                ['observed_at' => NdjsonLine::ago(3600), 'id' => 'other', 'views' => 1, 'channel' => 'B'],
            ]),
        );
        $installation->run(['rank']);
        $text = $installation->run(['explain', 'gb', 'video-1'])->output;

        foreach (
            [
                'A title',
                'A channel',
                'rank 1 of 2',
                'views an hour',
                'published 20',
                '+2500 in 1.0 h',
                'at most 3 videos of a channel',
                'inverse-square-1',
            ]
            as $expected
        ) {
            self::assertStringContainsString($expected, $text);
        }
    }

    #[Test]
    public function the_expected_views_are_the_published_scores(): void
    {
        $installation = Installation::migrated();
        $installation->run(
            ['ingest', '-'],
            NdjsonLine::of(['observed_at' => NdjsonLine::ago(3600), 'views' => 777_777]) . "\n",
        );
        $installation->run(['rank']);
        $text = $installation->run(['explain', 'GB', 'video-1'])->output;

        foreach (
            $installation->rows("SELECT score FROM trending WHERE category = ''")
            as ['score' => $score]
        ) {
            self::assertStringContainsString('score ' . number_format($score), $text);
        }
    }

    #[Test]
    public function a_video_that_no_list_has_is_given_the_reason_that_it_has(): void
    {
        $older = 'the list is older than what is known of it now';
        $full = self::videos(1, 502);
        $waiting = ['id' => 'waiting', 'regions' => ['GB'], 'published_at' => NdjsonLine::ago(-3600)];
        $waiting += ['region' => null, 'observed_at' => null, 'views' => null];
        $cases = [
            [
                [...self::videos(1, 2), ['region' => 'DE'] + self::videos(0, 1)[0]],
                self::videos(0, 1), // with fewer views than the others
                'v0',
                $older,
            ],
            [$full, self::videos(900, 1), 'v900', $older],
            [$full, [['views' => 2300, 'observed_at' => NdjsonLine::ago(60)] + $full[1]], 'v2', $older],
            [[...self::videos(1, 1), $waiting], [], 'waiting', 'it is not published yet'],
            [$full, [], 'v1', 'the last rank, 500, has'],
            [
                array_replace($full, [500 => ['channel' => 'C502'] + $full[500]]),
                [],
                'v501',
                'the limit by channel moves it',
            ],
        ];
        $folder = new TemporaryFolder();
        $file = "$folder->path/site.json";
        file_put_contents($file, '{"channel_limit": {"videos": 1, "within_ranks": 500}}');
        foreach ($cases as [$before, $after, $video, $reason]) {
            $installation = Installation::migrated(['REGIONS_FILE' => $file]);
            $installation->run(['ingest', '-'], NdjsonLine::many($before));
            $installation->run(['rank', '--at', NdjsonLine::ago(600)]);
            $installation->execute('UPDATE videos SET first_seen_at = first_seen_at - 3600');
            $installation->run(['ingest', '-'], NdjsonLine::many($after));
            $text = $installation->run(['explain', 'GB', $video])->output;
            self::assertMatchesRegularExpression("/^  day +not in the list .*; $reason/m", $text);
        }
    }

    /** @return list<array<string, mixed>> counted before the lists are made, the more the higher its number */
    private static function videos(int $first, int $count): array
    {
        return array_map(
            static fn(int $number): array => [
                ...['id' => "v$number", 'channel' => "C$number", 'views' => 1000 * $number],
                'observed_at' => NdjsonLine::ago(3600),
            ],
            range($first, $first + $count - 1),
        );
    }

    #[Test]
    public function an_id_that_starts_with_a_hyphen_goes_after_two(): void
    {
        $installation = Installation::migrated();
        $line = NdjsonLine::of(['id' => '-video', 'observed_at' => NdjsonLine::ago(3600)]);
        $installation->run(['ingest', '-'], "$line\n");
        $installation->run(['rank']);

        self::assertStringContainsString(
            'rank 1 of 1',
            $installation->run(['explain', 'GB', '--', '-video'])->output,
        );
        self::assertStringContainsString(
            'a value that starts with a hyphen goes after --.',
            $installation->run(['explain', 'GB', '-video'])->message(),
        );
    }

    #[Test]
    public function impressions_clicks_and_rates_are_shown_where_lists_learn_from_them(): void
    {
        $installation = Installation::migrated();
        $now = time();
        $soon = $now + 600; // until then nothing is forgotten, however slow the machine is
        $installation->execute(
            "INSERT INTO videos (id, title, channel, published_at, thumb_base, first_seen_at) VALUES ('new', 'New', 'C', $now, 'https://t.example/', $now);
            INSERT INTO catalogue (region, video_id, announced_at) VALUES ('GB', 'new', $now);
            INSERT INTO impressions (region, video_id, rank_group, age_group, impressions, clicks, age_hours, counted_at) VALUES ('GB', 'new', 1, 0, 4000, 800, 0, $soon)",
        );
        $installation->run(['rank']);
        $text = $installation->run(['explain', 'GB', 'new'])->output;

        foreach (
            [
                'inverse-square-1+clicks-7',
                'rank 1 of 1',
                '4,000.0 impressions',
                '800.0 clicks',
                'of those who see it',
                'explored  no',
            ]
            as $expected
        ) {
            self::assertStringContainsString($expected, $text);
        }
    }

    #[Test]
    public function the_score_of_a_video_in_no_list_follows_from_what_is_still_counted(): void
    {
        $soon = time() + 600;
        $lines = [
            ['id' => 'seen', 'observed_at' => NdjsonLine::ago(3600)],
            ['id' => 'kept', 'observed_at' => NdjsonLine::ago(3600), 'countries' => ['excluded' => ['GB']]],
            ['id' => 'left', 'observed_at' => NdjsonLine::ago(60 * 3600), 'views' => 1_000_000_000],
        ];
        $scores = [];
        foreach ([2, 3] as $count) {
            $installation = Installation::migrated();
            $installation->run(['ingest', '-'], NdjsonLine::many(array_slice($lines, 0, $count)));
            $installation->execute(
                "INSERT INTO impressions (region, video_id, rank_group, age_group, impressions, clicks, age_hours, counted_at) VALUES ('GB', 'seen', 1, 0, 4000, 800, 0, $soon)",
            );
            $installation->run(['rank', '--at', NdjsonLine::ago(600)]);
            preg_match(
                '/^  day +not in the list +score ([\\d.,]+)/m',
                $installation->run(['explain', 'GB', 'kept'])->output,
                $match,
            );
            $scores[] = $match[1];
        }

        self::assertSame($scores[0], $scores[1]);
    }

    #[Test]
    #[TestWith([0, '80.0 h, time of publication unknown, assumed to be 76 h old when first counted'])]
    #[
        TestWith([
            600,
            '80.0 h, .* assumed to be 76 h old when first counted; by its clicks, new when first seen',
        ]),
    ]
    #[TestWith([6000, '5.0 h, .* assumed to be new when first seen'])]
    public function a_video_without_a_date_is_as_old_as_that_which_ranks_it_takes_it(
        int $impressions,
        string $age,
    ): void {
        $installation = Installation::migrated();
        $now = time();
        $installation->run(
            ['ingest', '-'],
            NdjsonLine::many([['observed_at' => NdjsonLine::ago(4 * 3600), 'views' => 500]]),
        );
        $installation->execute("UPDATE videos SET first_seen_at = $now - 5 * 3600");
        if ($impressions > 0) {
            $installation->execute(
                "INSERT INTO impressions VALUES ('GB', 'video-1', 1, 0, $impressions, 60, 0, $now, 0, 0)",
            );
        }
        $installation->run(['rank']);
        $text = $installation->run(['explain', 'GB', 'video-1'])->output;

        self::assertMatchesRegularExpression("/^  age       $age$/m", $text);
    }

    #[Test]
    public function a_video_that_was_not_observed_in_the_region_is_named(): void
    {
        $installation = Installation::migrated();

        self::assertStringContainsString(
            'was neither observed nor announced in FR',
            $installation->run(['explain', 'FR', 'video-1'])->message(),
        );
        self::assertStringContainsString(
            'Unknown region XX: expected one of AT, BE,',
            $installation->run(['explain', 'xx', 'video-1'])->message(),
        );
        self::assertSame(ExitCode::Usage, $installation->run(['explain', 'FR'])->exitCode);
    }
}
